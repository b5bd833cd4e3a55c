"""What `fulmend models-get` has a Python with huggingface_hub do: it takes a line of JSON and answers with lines of JSON.

huggingface_hub knows the account's token, the addresses and the form of the cache. Only large files are written here before
it looks for them, since its newer versions begin a file that was cut again: they arrive in order, in a file that the next
try goes on with, as the copies of models between Macs do.
"""

import difflib
import errno
import hashlib
import inspect
import json
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

RESERVE_BYTES = 256 << 20  # stay free on the disk
WORKERS = 4
MOST_LISTED = 400  # files: a line has its bounds, and what arrives is sent on only where it is listed
TRIES = 6  # after which nothing has come
LONGEST_WAIT_S = 300
NETWORK = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")

writing = threading.Lock()


def tell(**line):
    with writing:
        print(json.dumps(line), flush=True)


class Problem(Exception):
    """What stops it, by a word that the daemon knows."""

    def __init__(self, word, text="", lacks=0):
        super().__init__(text)
        self.line = {"problem": word, "text": text, "lacks": lacks}


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__


def answered(error):
    """The error with the Hub's answer, where there was one."""
    return next((e for e in chain(error) if getattr(e, "response", None) is not None), None)


def is_broken(error):
    """Whether the connection broke, or never was."""
    return any(isinstance(e, (ConnectionError, TimeoutError)) or type(e).__module__.split(".")[0] in NETWORK for e in chain(error))


def digest(path, kind, start=b""):
    total = hashlib.new(kind, start)
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            total.update(block)
    return total.hexdigest()


class Get:
    def __init__(self, task):
        import huggingface_hub as hub
        from huggingface_hub import constants, file_download
        from huggingface_hub.utils import build_hf_headers

        if constants.HF_HUB_OFFLINE:
            raise Problem("offline")
        constants.DOWNLOAD_CHUNK_SIZE = 1 << 20  # what is lost at most where a connection breaks
        self.hub, self.http_get, self.headers = hub, file_download.http_get, build_hf_headers
        self.repository, self.revision, self.pause = task["repository"], task.get("revision") or "main", task["pause"]
        self.cache = constants.HF_HUB_CACHE
        self.folder = os.path.join(self.cache, file_download.repo_folder_name(repo_id=self.repository, repo_type="model"))
        self.api = hub.HfApi()
        self.token = None  # the account's; False = none is sent
        self.files, self.commit, self.doing, self.verified = [], "", "", set()
        self.once = {"_nb_retries": 0} if "_nb_retries" in inspect.signature(self.http_get).parameters else {}

    def blob(self, name):
        return os.path.join(self.folder, "blobs", name)

    def run(self):
        info = self.persist(self.info)
        self.commit, self.files = info.sha, info.siblings or []
        self.total = sum(f.size or 0 for f in self.files)
        self.room()
        files = [{"path": f.rfilename, "size": f.size, "hash": f.lfs.sha256 if f.lfs is not None else f.blob_id} for f in self.files]
        if len(files) <= MOST_LISTED and all(f["hash"] and f["size"] is not None for f in files):
            tell(commit=self.commit, refs=[] if self.revision == self.commit else [self.revision], files=files, public=self.token is False)
        threading.Thread(target=self.report, daemon=True).start()
        os.makedirs(self.blob(""), exist_ok=True)
        large = [f for f in self.files if f.lfs is not None]
        with ThreadPoolExecutor(WORKERS) as pool:
            for _ in pool.map(lambda f: self.persist(lambda: self.fetch(f)), large):
                pass
        at = self.persist(lambda: self.hub.snapshot_download(self.repository, revision=self.revision, max_workers=WORKERS, token=self.token))
        self.verify(at)
        tell(whole=True, done=self.total, total=self.total, verified=len(self.verified), unverified=len(self.files) - len(self.verified))

    def info(self):
        """What the Hub has. What it gives to anybody is got without a token: then it is public."""
        ask = lambda token: self.api.model_info(self.repository, revision=self.revision, files_metadata=True, token=token)
        try:
            info = ask(False)
            if not info.private and not info.gated:
                self.token = False
                return info
        except Exception as error:
            if answered(error) is None or self.again(error) is not None:
                raise
        return ask(None)

    def room(self):
        at = self.cache
        while not os.path.exists(at):
            at = os.path.dirname(at)
        lacks = self.total - self.done() + RESERVE_BYTES - shutil.disk_usage(at).free
        if self.total > self.done() and lacks > 0:
            raise Problem("disk_full", lacks=lacks)

    def fetch(self, file):
        """Has a large file in its place, unless the Hub names it otherwise than by its hash."""
        blob, sha256 = self.blob(file.lfs.sha256), file.lfs.sha256
        if os.path.exists(blob):
            return
        url = self.hub.hf_hub_url(self.repository, file.rfilename, revision=self.commit)
        found, headers = self.hub.get_hf_file_metadata(url, token=self.token), self.headers(token=self.token)
        if found.etag != sha256:
            return
        if urlsplit(found.location)[:2] != urlsplit(url)[:2]:
            headers.pop("authorization", None)  # the token is for the Hub alone
        part = blob + ".fulmen.incomplete"
        with open(part, "ab") as out:
            if out.tell() > file.size:
                out.truncate(0)
                out.seek(0)
            if out.tell() < file.size:
                self.http_get(found.location, out, resume_size=out.tell(), headers=headers, **self.once)
        if os.path.getsize(part) < file.size:
            raise ConnectionError("the file ended early")
        if digest(part, "sha256") != sha256:
            os.remove(part)
            raise Problem("corrupt", file.rfilename)
        os.replace(part, blob)
        self.verified.add(file.rfilename)

    def verify(self, at):
        """Compares the small files with Git's hashes: what is large was compared where it was fetched."""
        for file in self.files:
            path = os.path.join(at, file.rfilename)
            if file.lfs is not None or not file.blob_id or not os.path.exists(path):
                continue
            if digest(path, "sha1", b"blob %d\0" % os.path.getsize(path)) != file.blob_id:
                os.remove(os.path.realpath(path))
                os.remove(path)
                raise Problem("corrupt", file.rfilename)
            self.verified.add(file.rfilename)

    def done(self):
        total = 0
        for file in self.files:
            blob = self.blob(file.lfs.sha256 if file.lfs is not None else file.blob_id or "none")
            for at in (blob, blob + ".fulmen.incomplete"):
                try:
                    total += min(os.stat(at).st_size, file.size or 0)
                    break
                except OSError:
                    pass
        return total

    def report(self):
        while True:
            tell(done=self.done(), total=self.total, doing=self.doing)
            time.sleep(0.5)

    def persist(self, work):
        """Does work again after what passes, until it has failed several times while nothing came."""
        failed, had = 0, -1
        while True:
            try:
                return work()
            except Exception as error:
                again = self.again(error)
                done = self.done()
                failed, had = failed + 1 if done <= had else 1, done
                if again is None or failed >= TRIES:
                    raise
                doing, wait = again
                wait = self.pause * 2 ** (failed - 1) if wait is None else wait
            self.doing = doing % round(wait) if "%" in doing else doing
            tell(done=done, total=max(done, getattr(self, "total", 0)), doing=self.doing)
            time.sleep(wait)
            self.doing = ""

    def again(self, error):
        """Why it may work later, and when, where that is said; else None."""
        if isinstance(error, Problem):
            return None
        answer = answered(error)
        status = answer.response.status_code if answer is not None else 0
        if status == 429:
            wait = answer.response.headers.get("Retry-After", "")
            return "Hugging Face asks to wait %d s", min(int(wait), LONGEST_WAIT_S) if wait.isdigit() else None
        if status == 408 or status >= 500:
            return f"Hugging Face answers {status}, trying again", None
        if not status and is_broken(error):
            return "the connection broke, trying again", None
        return None

    def explain(self, error):
        number, answer = getattr(error, "errno", None), answered(error)
        if number in (errno.ENOSPC, errno.EDQUOT):
            return Problem("disk_full", lacks=max(0, getattr(self, "total", 0) - self.done()))
        if number in (errno.EACCES, errno.EPERM, errno.EROFS):
            return Problem("permission", str(error.filename or self.cache))
        if answer is None:
            word = "network" if is_broken(error) else "failed"
            return Problem(word, f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"[:300])
        names, status = {k.__name__ for k in type(answer).__mro__}, answer.response.status_code
        if "RevisionNotFoundError" in names:
            return Problem("revision", self.near(self.revision, self.refs))
        if "RepositoryNotFoundError" in names and "GatedRepoError" not in names or status == 404:
            return Problem("repository", self.near(self.repository, self.repositories))
        if "GatedRepoError" in names or status in (401, 403):
            return Problem("gated")
        return Problem("busy" if status == 429 else "answer", str(status))

    def refs(self):
        found = self.api.list_repo_refs(self.repository)
        return [ref.name for ref in found.branches + found.tags]

    def repositories(self):
        return [m.id for m in self.api.list_models(search=self.repository.split("/")[-1], limit=20)]

    @staticmethod
    def near(wanted, known):
        """The nearest name that there is, or nothing."""
        try:
            return (difflib.get_close_matches(wanted, known(), 1, 0.5) or [""])[0]
        except Exception:
            return ""


def end_with_caller():
    sys.stdin.read()
    os._exit(1)


def main():
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_caller, daemon=True).start()
    get = None
    try:
        get = Get(task)
        get.run()
    except ImportError as error:
        tell(**Problem("no_hub", str(error)).line)
    except Problem as problem:
        tell(**problem.line)
    except Exception as error:
        tell(**get.explain(error).line)
    sys.stdout.flush()
    os._exit(0)  # not when the threads that report and read end


main()
