// A recording from the microphone.

const MIME_TYPES = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
const MAX_BYTES = 20 * 1024 * 1024; // the server's limit
const MAX_DURATION_MS = 15 * 60 * 1000;
const CHUNK_MS = 1000;

const PHRASES_BY_ERROR = {
  NotFoundError: "voice_no_microphone", NotAllowedError: "voice_not_allowed", SecurityError: "voice_not_allowed",
  NotReadableError: "voice_taken",
};

/** Returns the i18n key of the reason why this browser cannot record at this address; "" if it can. */
export function findUnsupported() {
  if ("mediaDevices" in navigator && "MediaRecorder" in window) return "";
  return isSecureContext ? "voice_unable" : "voice_insecure";
}

/** Returns the i18n key of the reason why a recording has not started. @param {Error} error */
export const nameRefusal = (error) => PHRASES_BY_ERROR[error.name] ?? "voice_unable";

/** Starts a recording; the browser asks for permission. Rejects if it is denied or there is no microphone. `onFull` is
 * called at the limit of size or length.
 * @returns {Promise<{end: () => Promise<Blob>, drop: () => void, seconds: () => number, onFull: () => void}>} */
export async function record() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const mimeType = MIME_TYPES.find((each) => MediaRecorder.isTypeSupported(each));
  const recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 32_000 });
  const startedAt = performance.now();
  const chunks = [];
  let bytes = 0;
  const stopped = new Promise((resolve) => (recorder.onstop = resolve));
  const releaseMicrophone = () => stream.getTracks().forEach((each) => each.stop());
  const recording = { end, drop, seconds: () => (performance.now() - startedAt) / 1000, onFull: () => {} };

  recorder.ondataavailable = ({ data }) => {
    chunks.push(data);
    bytes += data.size;
    const isFull = bytes > MAX_BYTES - 2 * data.size || performance.now() - startedAt > MAX_DURATION_MS;
    if (isFull && recorder.state === "recording") recording.onFull();
  };

  async function end() {
    if (recorder.state !== "inactive") recorder.stop();
    await stopped;
    releaseMicrophone();
    return new Blob(chunks, { type: (mimeType ?? "audio/webm").split(";")[0] });
  }

  function drop() {
    if (recorder.state !== "inactive") recorder.stop();
    releaseMicrophone();
  }

  recorder.start(CHUNK_MS);
  return recording;
}
