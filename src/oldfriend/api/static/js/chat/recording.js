// A recording from the microphone.

const KINDS = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
const MOST_BYTES = 20 * 1024 * 1024; // what the server takes
const LONGEST_MS = 15 * 60 * 1000;
const PIECE_MS = 1000;

const TROUBLES = {
  NotFoundError: "voice_no_microphone", NotAllowedError: "voice_not_allowed", SecurityError: "voice_not_allowed",
  NotReadableError: "voice_taken",
};

/** Why nothing can be recorded at this address, in which phrase; "": it can be tried. */
export function findUnsupported() {
  if ("mediaDevices" in navigator && "MediaRecorder" in window) return "";
  return isSecureContext ? "voice_unable" : "voice_insecure";
}

/** Why a recording has not begun, in which phrase. @param {Error} problem */
export const nameRefusal = (problem) => TROUBLES[problem.name] ?? "voice_unable";

/** Begin to record; the browser asks whether it may. Rejects where it may not.
 * @returns {Promise<{end: () => Promise<Blob>, drop: () => void, seconds: () => number, onFull: () => void}>} */
export async function record() {
  const heard = await navigator.mediaDevices.getUserMedia({ audio: true });
  const mimeType = KINDS.find((each) => MediaRecorder.isTypeSupported(each));
  const recorder = new MediaRecorder(heard, { mimeType, audioBitsPerSecond: 32_000 });
  const began = performance.now();
  const pieces = [];
  let bytes = 0;
  const ended = new Promise((resolve) => (recorder.onstop = resolve));
  const rest = () => heard.getTracks().forEach((each) => each.stop());
  const mine = { end, drop, seconds: () => (performance.now() - began) / 1000, onFull: () => {} };

  recorder.ondataavailable = ({ data }) => {
    pieces.push(data);
    bytes += data.size;
    const isFull = bytes > MOST_BYTES - 2 * data.size || performance.now() - began > LONGEST_MS;
    if (isFull && recorder.state === "recording") mine.onFull();
  };

  async function end() {
    if (recorder.state !== "inactive") recorder.stop();
    await ended;
    rest();
    return new Blob(pieces, { type: (mimeType ?? "audio/webm").split(";")[0] });
  }

  function drop() {
    if (recorder.state !== "inactive") recorder.stop();
    rest();
  }

  recorder.start(PIECE_MS);
  return mine;
}
