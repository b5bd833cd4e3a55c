package inventory

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"fulmen/daemon/api"
)

// Remove removes a revision from Hugging Face's cache, or only says what that would free.
// What other revisions share stays; with the last revision goes the whole repository. The
// names go first: whoever looks for the model meanwhile does not find it, and what was
// begun can be removed again.
func (i *Inventory) Remove(sel api.ModelSelect, isTrial bool) (r api.ModelRemoveResult, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	m, err := i.findLocked(sel)
	if err != nil {
		return r, err
	}
	r.Model = m.Model
	folder, ok := RepositoryFolder(m.Model.Model)
	if m.Source != api.ModelHub || !ok {
		return r, api.Errorf(api.ReasonBadValue, m.Model.Model, "%s is not in Hugging Face's cache, and is not removed by Fulmen.", m.Model.Model).
			WithRemedy("Remove it with the program that fetched it: it is in " + m.Path)
	}
	counted, isLast := i.sharedLocked(m)
	var blobs []string
	for _, f := range m.files {
		if !counted[f.at] {
			counted[f.at] = true // a blob may be several files
			blobs = append(blobs, f.at)
			r.FreedBytes += f.size
		}
	}
	if isLast {
		r.FreedBytes += m.PartialBytes
	}
	if isTrial {
		return r, nil
	}
	cache, err := os.OpenRoot(m.root.real)
	if err != nil {
		return r, err
	}
	defer cache.Close()
	unlock, err := Lock(cache, m.Model.Model)
	if err != nil {
		return r, err
	}
	defer unlock()
	defer i.hints.note(filepath.Join(m.root.real, folder, "snapshots")) // the next question need not wait to be notified of it
	for _, ref := range m.Refs {
		err = errors.Join(err, gone(cache.Remove(path.Join(folder, "refs", ref))))
	}
	if err = errors.Join(err, cache.RemoveAll(path.Join(folder, "snapshots", m.Revision))); err != nil {
		return r, err
	}
	for _, blob := range blobs {
		if strings.HasPrefix(blob, path.Join(folder, "blobs")+"/") {
			err = errors.Join(err, gone(cache.Remove(blob)))
		}
	}
	if err == nil && isLast {
		err = cache.RemoveAll(folder)
	}
	return r, err
}

// gone takes it for removed what was not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sharedLocked is what other revisions of a repository have, and whether there are none.
func (i *Inventory) sharedLocked(m placed) (files map[string]bool, isLast bool) {
	files, isLast = map[string]bool{}, true
	for _, other := range i.allLocked() {
		if other.root != m.root || other.Model.Model != m.Model.Model || other.Revision == m.Revision {
			continue
		}
		isLast = false
		for _, f := range other.files {
			files[f.at] = true
		}
	}
	return files, isLast
}
