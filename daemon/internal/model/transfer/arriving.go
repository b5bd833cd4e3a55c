package transfer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/native"
)

const (
	// listAt is where the list of a model that arrives is; no revision has such a name.
	listAt = stagingDir + "/.list"
	// hubPartialSuffix is the end of Hugging Face's own name for what is not whole.
	hubPartialSuffix = ".incomplete"
	// lookEvery is how often a file that arrives is looked at, while somebody waits for it.
	lookEvery = 30 * time.Millisecond
	// defaultSilence is how long a file that arrives may rest.
	defaultSilence = time.Minute
)

// Announce writes the list of a model of which files are still arriving in a repository, so
// that they can be sent on meanwhile. The list holds a lock of its own, which says that its
// process lives; end takes both away. Whoever calls it has inventory.Lock, and writes each
// file from its beginning to its end: to blobs/HASH with .incomplete or .fulmen.incomplete
// behind it, which becomes blobs/HASH; or, where a file has a Sum in place of a Hash, to that
// of the Sum, which becomes .fulmen/REVISION/PATH.
func Announce(repo *os.Root, repository, revision string, refs []string, files []File) (end func(), err error) {
	h := header{Repository: repository, Revision: revision, Refs: refsOf(refs), Files: len(files)}
	for _, f := range files {
		h.Bytes += f.Size
	}
	if err := repo.MkdirAll(stagingDir, 0o755); err != nil {
		return nil, err
	}
	_ = repo.Remove(scratch) // of a copy that was cut
	f, err := repo.OpenFile(scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	conn := wire.NewConn(nil, f)
	err = cmp.Or(conn.Send(wire.Model, h), wire.SendParts(conn, wire.ModelFiles, files), conn.Flush(), unix.Flock(int(f.Fd()), unix.LOCK_EX), repo.Rename(scratch, listAt))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		_ = repo.Remove(listAt)
		_ = repo.Remove(stagingDir) // where it is empty
		f.Close()
	}, nil
}

// announce does so for what a receiver gets.
func (r *receiver) announce(items []*item) (end func(), err error) {
	files := make([]File, len(r.list.files))
	for n, f := range r.list.files {
		files[n] = File{Path: f.Path, Size: f.Size, Hash: f.Hash}
	}
	for _, it := range items {
		if files[it.file].Hash == "" {
			files[it.file].Sum = it.hash
		}
	}
	return Announce(r.repo, r.list.Repository, r.list.Revision, r.list.Refs, files)
}

// Beat says that files of a list go on arriving.
func Beat(repo *os.Root, now time.Time) {
	_ = repo.Chtimes(listAt, now, now) // it may be too late
}

func (r *receiver) beat() { Beat(r.repo, r.clock.Now()) }

// arriving is a model that another process of the account receives.
type arriving struct {
	store
	lock    *os.File // its list, which that process has locked
	clock   native.Clock
	silence time.Duration
}

// openArriving opens a model that arrives; nil where there is none.
func openArriving(task SendTask, clock native.Clock) (*arriving, error) {
	folder, ok := inventory.RepositoryFolder(task.Model.Model)
	if !ok {
		return nil, nil
	}
	cache, err := os.OpenRoot(task.Places.HubFolder())
	if err != nil {
		return nil, ifThere(err)
	}
	defer cache.Close()
	repo, err := cache.OpenRoot(folder)
	if err != nil {
		return nil, ifThere(err)
	}
	a := &arriving{store: store{repo: repo}, clock: clock, silence: cmp.Or(task.Silence, defaultSilence)}
	if a.lock, err = a.regular(listAt); err == nil {
		a.list, err = readListing(wire.NewConn(a.lock, nil), false)
	}
	if err != nil || a.isOver() || !a.list.isOf(task.Model) {
		a.close()
		return nil, ifThere(err)
	}
	return a, nil
}

func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (a *arriving) close() {
	a.repo.Close()
	if a.lock != nil {
		a.lock.Close()
	}
}

// isOver reports whether whoever receives has ended.
func (a *arriving) isOver() bool {
	return unix.Flock(int(a.lock.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}

// regular opens a regular file of the repository.
func (a *arriving) regular(at string) (*os.File, error) {
	if info, err := a.repo.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	f, err := a.repo.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrNotExist, f.Close())
	}
	return f, nil
}

// open waits until a file has so many bytes. alive is called at times while it waits.
func (a *arriving) open(n int, bytes int64, alive func()) (*os.File, error) {
	before, since := a.mark(n), a.clock.Boot()
	called := since
	for {
		isOver := a.isOver() // first: a model that became whole has its names before that
		if f := a.find(n, bytes); f != nil {
			return f, nil
		}
		mark, now := a.mark(n), a.clock.Boot()
		if mark != before {
			before, since = mark, now
		}
		if now-called >= a.silence/4 {
			called = now
			alive()
		}
		if isOver || now-since >= a.silence {
			return nil, api.Errorf(api.ReasonModelNotCopied, a.list.Repository, "%s no longer arrives on the Mac that it is copied from.", a.list.Repository).WithRemedy(keptRemedy)
		}
		native.Pause(context.Background(), a.clock, lookEvery)
	}
}

// find opens a file where it is whole, or as much of it as is there. What is there of one
// that is not whole was compared with the hashes of its chunks before it was written, from
// its beginning on, so its length says how much that is. A power cut can have left other
// bytes, and Hugging Face's programs compare none: each Mac compares the whole file.
func (a *arriving) find(n int, bytes int64) *os.File {
	f := a.list.files[n]
	whole, partial := []string{a.snapshot(f.Path)}, cmp.Or(f.Hash, f.Sum)
	if f.Hash != "" {
		whole = append(whole, blob(f.Hash))
	} else {
		whole = append(whole, a.staged(f.Path))
	}
	for _, at := range whole {
		if a.has(at, f.Size) {
			if opened, err := a.regular(at); err == nil {
				return opened
			}
		}
	}
	for _, suffix := range []string{partialSuffix, hubPartialSuffix} {
		opened, err := a.regular(blob(partial) + suffix)
		if err != nil {
			continue
		}
		if info, err := opened.Stat(); err == nil && info.Size() >= bytes {
			return opened
		}
		opened.Close()
	}
	return nil
}

// mark changes where whoever receives goes on.
func (a *arriving) mark(n int) (m struct{ at, size int64 }) {
	if info, err := a.lock.Stat(); err == nil {
		m.at = info.ModTime().UnixNano()
	}
	if f := a.list.files[n]; f.Hash != "" {
		if info, err := a.repo.Lstat(blob(f.Hash) + hubPartialSuffix); err == nil {
			m.size = info.Size()
		}
	}
	return m
}
