package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
)

const (
	blobsDir     = "blobs"
	snapshotsDir = "snapshots"
	// stagingDir is where a snapshot is made, beside those of a repository.
	stagingDir = ".fulmen"
	// partialSuffix makes a name that counts as a download that goes on; Hugging Face's
	// programs have a random word, or nothing, where it has ours.
	partialSuffix = ".fulmen.incomplete"
	// reserveBytes stay free on the disk.
	reserveBytes = 256 << 20
)

// openCache opens Hugging Face's cache, which is made where it is not there.
func openCache(at string) (*os.Root, error) {
	if at == "" {
		return nil, api.Errorf(api.ReasonBadValue, "HF_HUB_CACHE", "Hugging Face's cache is not at an absolute path.").
			WithRemedy("Set HF_HUB_CACHE or HF_HOME to an absolute path.")
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
		return nil, err
	}
	return os.OpenRoot(at)
}

// openRepository opens the model's folder, which nobody else copies to meanwhile.
func (r *receiver) openRepository() (unlock func(), err error) {
	folder, _ := inventory.RepositoryFolder(r.list.Repository) // which was checked
	release, err := inventory.Lock(r.cache, r.list.Repository)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err := r.cache.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := r.cache.Lstat(folder); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a folder", folder))
	}
	r.repo, err = r.cache.OpenRoot(folder)
	return release, err
}

// room refuses what the disk has no room for, before anything is written.
func (r *receiver) room(bytes int64) error {
	free, err := r.freeBytes(r.repo.Name())
	if err != nil || bytes == 0 || free-reserveBytes >= bytes {
		return nil // it shows when the disk is full
	}
	folder, _ := inventory.RepositoryFolder(r.list.Repository)
	_ = r.cache.Remove(folder) // where it is new
	return noRoom(r.list.Repository, bytes+reserveBytes-free, r.cache.Name())
}

// store is the repository of a model.
type store struct {
	repo *os.Root
	list listing
}

// staged and snapshot are where a file of the model is before and after it is published.
func (s store) staged(name string) string { return path.Join(stagingDir, s.list.Revision, name) }

func (s store) snapshot(name string) string {
	return path.Join(snapshotsDir, s.list.Revision, name)
}

func blob(hash string) string { return path.Join(blobsDir, hash) }

// target is what the link at a path of a snapshot says.
func target(name, hash string) string {
	return strings.Repeat("../", 2+strings.Count(name, "/")) + blob(hash)
}

// has reports whether a regular file of a size is at a path of the repository.
func (s store) has(at string, size int64) bool {
	info, err := s.repo.Lstat(at)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// syncFolder has the names in a folder outlast a power cut.
func (r *receiver) syncFolder(at string) error {
	folder, err := r.repo.Open(at)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
