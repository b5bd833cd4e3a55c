package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"fulmen/daemon/internal/model/inventory"
)

// reuse takes a blob from another repository of the cache, where one has it, and reports
// whether it did. As for Hugging Face's programs, a blob that has its name is whole. It is
// cloned, so that nobody who writes to one changes the other; where the disk cannot, the two
// are one file, if it is this account's.
func (r *receiver) reuse(hash string, size int64) bool {
	if r.others == nil {
		r.others = r.blobsOfOthers()
	}
	from := r.others[hash]
	if from == "" {
		return false
	}
	info, err := r.cache.Lstat(from)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size || r.repo.MkdirAll(blobsDir, 0o755) != nil {
		return false
	}
	folder, _ := inventory.RepositoryFolder(r.list.Repository) // which was checked
	to := path.Join(folder, blob(hash))
	partial := to + partialSuffix
	if err := r.cache.Remove(partial); err == nil || errors.Is(err, fs.ErrNotExist) {
		if clone(r.cache, from, partial) == nil && r.has(blob(hash)+partialSuffix, size) {
			return r.cache.Rename(partial, to) == nil
		}
		_ = r.cache.Remove(partial) // where one was begun
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && r.cache.Link(from, to) == nil
}

// blobsOfOthers are the blobs of all other models in the cache, by hash.
func (r *receiver) blobsOfOthers() map[string]string {
	own, _ := inventory.RepositoryFolder(r.list.Repository)
	all := map[string]string{}
	folders, _ := fs.Glob(r.cache.FS(), "models--*") // the pattern is right
	for _, folder := range folders {
		if folder == own {
			continue
		}
		entries, _ := fs.ReadDir(r.cache.FS(), path.Join(folder, blobsDir)) // what cannot be read is fetched
		for _, e := range entries {
			if inventory.IsHash(e.Name()) && e.Type().IsRegular() {
				all[e.Name()] = path.Join(folder, blobsDir, e.Name())
			}
		}
	}
	return all
}
