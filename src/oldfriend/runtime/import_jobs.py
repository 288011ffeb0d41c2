"""Import jobs: uploaded chat exports, previewed and imported in the background.

An upload stays in the data folder until it is in the log, or until nobody has wanted it for a day.
An import resumes where it stopped when the process ends or somebody pauses it. How the file was
uploaded is not known here.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.app.embed_messages import plan_embedding, try_embed_missing
from oldfriend.app.event_log import log_warning
from oldfriend.app.notifications import WakeEvent, set_on_stop
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import DAY, Clock, Micros
from oldfriend.domain.errors import (
    ImportRefused,
    InvalidInput,
    NotFound,
    OldfriendError,
    ParserCrashed,
    ParserNotStarted,
    StoreUnusable,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import Person
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.memory.deletion.audit_log import list_purges
from oldfriend.memory.people import ensure_companion, get_person_by_id
from oldfriend.memory.vectors import count_searchable_messages
from oldfriend.runtime.learn_now import LearnNowProgress as Reading
from oldfriend.runtime.learn_now import process_due_segments
from oldfriend.transfer.export_run import RESERVED_DISK_BYTES, check_free_space
from oldfriend.transfer.import_run import ImportProgress, ImportResult, import_messages
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.restore import is_oldfriend_export
from oldfriend.transfer.sandbox_process import InspectionTask
from oldfriend.transfer.uploads import (
    OWN_EXPORT,
    FairQueue,
    Upload,
    fsync_file,
    load_uploads,
    rechunk,
    sanitize_name,
)

MAX_UPLOAD_BYTES: Final = 2 << 30
MAX_TOTAL_BYTES: Final = 4 << 30
"""Bytes of one person's uploads kept at once."""
MAX_UPLOADS: Final = 20
MAX_CONCURRENT_PREVIEWS: Final = 3
"""Each preview takes a process, and a thread that waits for it."""
MAX_CONCURRENT_IMPORTS: Final = 4
"""Each import also takes a reader process."""
MAX_READ_ATTEMPTS: Final = 3
"""Attempts to read a file that ended this whole process; fewer could be chance."""
UPLOAD_TTL: Final = DAY
SWEEP_INTERVAL_S: Final = 600.0


class ImportWorker:
    """Receives uploads and imports their contents."""

    def __init__(self, folder: Path, *, spare: int = RESERVED_DISK_BYTES) -> None:
        """Load the uploads in a folder; ``spare`` bytes of its disk stay free."""
        self._folder = folder
        self._spare = spare
        self._uploads = {each.id: each for each in load_uploads(folder)}
        self._arriving: dict[str, Upload] = {}
        self._preview_queue = FairQueue(MAX_CONCURRENT_PREVIEWS)
        self._import_queue = FairQueue(MAX_CONCURRENT_IMPORTS)
        self._wake_events: set[WakeEvent] = set()

    async def receive(
        self, person: PersonId, name: str, chunks: AsyncIterable[bytes], *, zone: str, now: Micros
    ) -> Upload:
        """Receive a file as it arrives, whole or not at all.

        Raises InvalidInput, StoreFull, StoreUnusable.
        """
        if len(self._list_held(person)) >= MAX_UPLOADS:
            raise InvalidInput(
                localizable(
                    "too_many_files",
                    "There are too many files here. Import or remove some first.",
                )
            )
        upload_id = secrets.token_hex(16)
        upload = Upload(
            id=upload_id,
            person=person,
            name=sanitize_name(name),
            folder=self._folder / upload_id,
            bytes=0,
            at=now,
            wanted_at=now,
            zone=zone,
        )
        self._arriving[upload_id] = upload
        try:
            await self._write(upload, chunks)
            upload.save_state()
            self._uploads[upload_id] = upload
        except BaseException as error:
            await asyncio.shield(delete_folder(upload.folder))
            if isinstance(error, OSError):
                raise StoreUnusable(
                    localizable(
                        "file_not_kept",
                        f"The file could not be kept ({error.strerror}).",
                        reason=error.strerror or "",
                    )
                ) from error
            raise
        finally:
            del self._arriving[upload_id]
        self._wake()
        return upload

    async def _write(self, upload: Upload, chunks: AsyncIterable[bytes]) -> None:
        """Write a file as it arrives, readable by this user only."""
        upload.folder.mkdir(mode=0o700, parents=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(upload.file, flags, 0o600), "wb") as file:
            async for chunk in rechunk(chunks):
                upload.bytes += len(chunk)
                self._refuse_over_quota(upload)
                await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(fsync_file, file)
        if not upload.bytes:
            raise InvalidInput(localizable("empty_file", "This file is empty."))

    def _refuse_over_quota(self, upload: Upload) -> None:
        if upload.bytes > MAX_UPLOAD_BYTES:
            raise InvalidInput(
                localizable(
                    "file_too_large",
                    f"It is larger than {MAX_UPLOAD_BYTES >> 30} GB. Split it.",
                    gb=MAX_UPLOAD_BYTES >> 30,
                )
            )
        uploads = self._list_held(upload.person)
        if sum(each.bytes for each in uploads if not each.is_in_log) > MAX_TOTAL_BYTES:
            raise InvalidInput(
                localizable(
                    "too_much_lying",
                    f"More than {MAX_TOTAL_BYTES >> 30} GB of files would be waiting here. Import "
                    "or remove some first.",
                    gb=MAX_TOTAL_BYTES >> 30,
                )
            )
        check_free_space(self._folder, spare=self._spare)

    def _list_held(self, person: PersonId) -> list[Upload]:
        """Return a person's uploads, including those still arriving."""
        arriving = [each for each in self._arriving.values() if each.person == person]
        return [*self.list_uploads(person), *arriving]

    def list_uploads(self, person: PersonId) -> list[Upload]:
        """Return a person's uploads, oldest first."""
        self._drop_missing()
        return sorted(
            (each for each in self._uploads.values() if each.person == person),
            key=lambda each: each.at,
        )

    def get(self, person: PersonId, upload_id: str) -> Upload:
        """Return one of a person's uploads. Raises NotFound."""
        self._drop_missing()
        upload = self._uploads.get(upload_id)
        if upload is None or upload.person != person:
            raise NotFound(
                localizable("file_gone", "This file is no longer here. Choose it again.")
            )
        return upload

    def _drop_missing(self) -> None:
        """Drop uploads that another process has deleted."""
        for each in list(self._uploads.values()):
            if not (each.is_in_log or each.is_running or each.folder.is_dir()):
                del self._uploads[each.id]

    def start_import(self, upload: Upload, *, me: str | None, zone: str, now: Micros) -> None:
        """Start or resume an import. Raises InvalidInput."""
        if upload.is_running or upload.stage in {"done", "waiting"}:
            raise InvalidInput(
                localizable(
                    "brought_already", "It is being imported, or has been imported already."
                )
            )
        upload.me, upload.zone, upload.why, upload.wanted_at = me, zone, "", now
        upload.attempts = 0
        upload.set_stage("waiting")
        upload.save_state()
        self._wake()

    def pause(self, upload: Upload, *, now: Micros) -> None:
        """Pause an import until it is resumed. Raises InvalidInput."""
        if upload.stage not in {"waiting", "writing"}:
            raise InvalidInput(localizable("nothing_to_pause", "There is nothing to pause."))
        upload.cancel()
        upload.wanted_at = now
        upload.set_stage("paused", done=upload.done, total=upload.total)
        upload.save_state()

    async def pause_all(self, person: PersonId, *, now: Micros) -> None:
        """Pause all of a person's imports until they are resumed."""
        for each in self.list_uploads(person):
            if each.stage in {"waiting", "writing"}:
                self.pause(each, now=now)
                await each.wait_done()

    async def discard(self, upload: Upload) -> None:
        """Delete an upload; what was imported stays."""
        upload.attempts = 0  # no attempt needs to be recorded any more
        upload.cancel()
        self._uploads.pop(upload.id, None)
        await asyncio.shield(delete_folder(upload.folder))

    async def discard_all(self, person: PersonId) -> None:
        """Delete all of a person's uploads."""
        for each in self.list_uploads(person):
            await self.discard(each)

    async def run(self, app: AppContext, stopping: asyncio.Event) -> None:
        """Preview and import uploads until told to stop, then leave the rest where it is."""
        wake_event = WakeEvent()
        self._wake_events.add(wake_event)
        running: set[asyncio.Task[None]] = set()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(set_on_stop(stopping, wake_event))
                while not stopping.is_set():
                    await self._sweep(app.clock())
                    for upload in self._list_idle():
                        task = tasks.create_task(
                            process_upload(app, upload, self._preview_queue, self._import_queue)
                        )
                        upload.set_task(task)
                        running.add(task)
                        task.add_done_callback(running.discard)
                    await wake_event.wait(SWEEP_INTERVAL_S)
                for task in running:
                    task.cancel()
        finally:
            self._wake_events.discard(wake_event)
            self._wake()  # a successor may have looked before these tasks ended

    def _list_idle(self) -> list[Upload]:
        """Return the uploads that need work and have no task."""
        return [
            each
            for each in self._uploads.values()
            if each.stage in {"checking", "waiting"} and not each.is_running
        ]

    async def _sweep(self, now: Micros) -> None:
        """Delete finished uploads that nobody has wanted for a day."""
        for upload in list(self._uploads.values()):
            is_over = upload.stage in {"ready", "failed", "done"}
            if is_over and upload.wanted_at + UPLOAD_TTL < now:
                await self.discard(upload)

    def _wake(self) -> None:
        for wake_event in self._wake_events:
            wake_event.set()


async def process_upload(
    app: AppContext, upload: Upload, preview_queue: FairQueue, import_queue: FairQueue
) -> None:
    """Do the next step for an upload; errors are recorded on it and affect no other."""
    try:
        refuse_crashing_upload(upload)
        person = await get_upload_owner(app.db, upload)
        if upload.stage == "checking":
            upload.contents = await preview_upload(upload, person, preview_queue)
            upload.set_stage("ready")
        else:
            async with import_queue.turn(person):
                preview = await preview_upload(upload, person, preview_queue)
                await import_upload(app.db, app.clock, app.settings, upload, preview)
            await finish_import(app, upload)
            upload.set_stage("done")
    except OldfriendError as error:
        log_reader_failure(error)
        mark_failed(upload, error.user_text)
    except asyncio.CancelledError:
        if upload.is_in_log:
            upload.set_stage("done")
        elif upload.stage == "writing":
            upload.set_stage("waiting")
        end_read_attempt(upload)
        raise
    except Exception as error:
        log_warning("import-failed", error)
        kind = type(error).__name__
        text = f"Something went wrong inside Oldfriend ({kind}). Try again."
        mark_failed(upload, localizable("import_broke", text, kind=kind))


def log_reader_failure(error: OldfriendError) -> None:
    """Log how a reader process ended, if that is what failed."""
    match error:
        case ParserCrashed(exit_code=code):
            log_warning("import-reader-crashed", error, exit_code=code)
        case ParserNotStarted(exit_code=code, stderr=stderr):
            log_warning("import-reader-not-started", error, exit_code=code, stderr=stderr)
        case _:
            pass


def refuse_crashing_upload(upload: Upload) -> None:
    """Raise ImportRefused for a file that ended this program at each attempt."""
    if upload.attempts >= MAX_READ_ATTEMPTS:
        raise ImportRefused(
            localizable(
                "import_ended_each_time",
                f"Oldfriend was stopped {upload.attempts} times while it was reading this file, "
                "so the file was set aside. If that was a coincidence, import it again.",
                count=upload.attempts,
            )
        )


def end_read_attempt(upload: Upload) -> None:
    """Record that reading an upload did not end this process; its folder may be gone by now."""
    with suppress(OSError):
        upload.end_attempt()


def mark_failed(upload: Upload, why: str) -> None:
    """Record why an import failed; done instead if its messages are in the log already."""
    if upload.is_in_log:
        upload.set_stage("done")
        return
    upload.why, upload.attempts = why, 0
    upload.set_stage("failed")
    with suppress(OSError):  # the disk may be why
        upload.save_state()


async def import_upload(
    db: Database, clock: Clock, settings: Settings, upload: Upload, preview: ImportPreview
) -> None:
    """Write the contents of an upload into the log.

    Raises ImportRefused if everything was forgotten since it was handed over.
    """
    async with db.begin_read() as tx:
        purges = await list_purges(tx, upload.person)
    if any(each.done_at > upload.wanted_at for each in purges):
        raise ImportRefused(
            localizable(
                "forgotten_since",
                "Everything was forgotten since this file was handed over. Hand it over again if "
                "it is to be imported nevertheless.",
            )
        )
    upload.set_stage("writing", total=preview.messages)

    def written(progress: ImportProgress) -> None:
        upload.done, upload.left_s = progress.done, progress.left_s
        end_read_attempt(upload)  # progress, so a crash now is not the file's fault

    upload.contents, upload.result = (
        preview,
        await write_preview(db, clock, settings, upload.person, preview, written),
    )
    await schedule_learning(db, clock, settings, upload.person, cut_reason="import")
    async with db.begin_write() as tx:
        await plan_embedding(tx, now=clock())
    upload.set_stage("understanding")  # from here on background jobs can finish it


async def finish_import(app: AppContext, upload: Upload) -> None:
    """Delete the file, embed the imported messages and have them read."""
    await asyncio.shield(delete_folder(upload.folder))
    await embed_imported(app, upload)
    upload.set_stage("reading")
    await process_due_segments(
        app, upload.person, on_progress=lambda now: update_progress(upload, now)
    )


async def write_preview(
    db: Database,
    clock: Clock,
    settings: Settings,
    person: PersonId,
    preview: ImportPreview,
    progress: Callable[[ImportProgress], None],
) -> ImportResult:
    """Write a previewed file into the log, except what was forgotten."""
    async with db.begin_write() as tx:
        companion = await ensure_companion(tx, now=clock())
        owner = await get_person_by_id(tx, person)
        forgotten = await load_deletion_filter(settings, tx, person)
    return await import_messages(
        db,
        preview,
        person=owner,
        companion=companion,
        clock=clock,
        forgotten=forgotten,
        progress=progress,
    )


async def embed_imported(app: AppContext, upload: Upload) -> None:
    """Embed the imported messages; where that fails, a background job does it later."""
    async with app.db.begin_read() as tx:
        searchable, embedded = await count_searchable_messages(
            tx, upload.person, app.embedder.model
        )
    upload.set_stage("understanding", total=searchable - embedded)

    def understood(done: int) -> None:
        upload.done = done

    await try_embed_missing(app, upload.person, progress=understood)


def update_progress(upload: Upload, progress: Reading) -> None:
    """Record how far the reading is."""
    upload.done, upload.total = progress.done, progress.total


async def get_upload_owner(db: Database, upload: Upload) -> Person:
    """Return the owner of an upload. Raises NotFound."""
    async with db.begin_read() as tx:
        return await get_person_by_id(tx, upload.person)


async def preview_upload(upload: Upload, person: Person, preview_queue: FairQueue) -> ImportPreview:
    """Return the preview of a person's whole upload, read in its turn. Raises ImportRefused."""

    def tick(done: int) -> None:
        upload.done = done

    async with preview_queue.turn(person):
        if await asyncio.to_thread(is_oldfriend_export, upload.file):
            raise ImportRefused(OWN_EXPORT)
        with suppress(OSError):  # a full disk must not prevent a preview
            upload.begin_attempt()
        owner_name = person.name
        with InspectionTask(
            upload.file, me=upload.me, person=owner_name, zone=upload.zone
        ) as inspection:
            preview = await asyncio.to_thread(inspection.wait, tick)
    if upload.stage == "checking":
        end_read_attempt(upload)
    return preview


async def delete_folder(folder: Path) -> None:
    """Delete a folder with its contents."""
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
