package inventory

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

const (
	// MaxAnswer is how much of a list fits into a message of the API.
	MaxAnswer = api.MaxMessageBytes - 64<<10
	// maxFiles is how many files of a model are listed.
	maxFiles = 2000
)

// List is all models, and the folders that they were looked for in.
func (i *Inventory) List() (list api.ModelListResult) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refreshLocked()
	list.Models, list.Folders = []api.Model{}, []api.ModelFolder{}
	size := 0
	for _, r := range i.roots {
		if r.units != nil || r.Error != nil { // else it is not there
			list.Folders = append(list.Folders, r.ModelFolder)
			size += EncodedSize(r.ModelFolder)
		}
	}
	for _, m := range i.allLocked() {
		if size += EncodedSize(m.Model); size > MaxAnswer {
			list.LeftOut++
			continue
		}
		list.Models = append(list.Models, m.Model)
	}
	return list
}

// EncodedSize is how much a value takes in an answer, with its comma.
func EncodedSize(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return MaxAnswer // which is then left out
	}
	return len(data) + 1
}

// placed is a model and the root that it is in.
type placed struct {
	found
	root *root
}

// allLocked are all models, by name and revision.
func (i *Inventory) allLocked() (all []placed) {
	for _, r := range i.roots {
		for _, u := range r.units {
			for _, m := range u.models {
				all = append(all, placed{found: m, root: r})
			}
		}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.Model.Model, b.Model.Model), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// Show is one model with its files.
func (i *Inventory) Show(sel api.ModelSelect) (result api.ModelShowResult, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	m, err := i.findLocked(sel)
	if err != nil {
		return result, err
	}
	result.Model, result.Files = m.Model, []api.ModelFile{}
	for _, f := range m.files[:min(len(m.files), maxFiles)] {
		one := api.ModelFile{Path: f.path, SizeBytes: f.size}
		if len(f.hash) == 64 {
			one.SHA256 = f.hash
		} else {
			one.GitSHA1 = f.hash
		}
		result.Files = append(result.Files, one)
	}
	return result, nil
}

// findLocked finds the model that a person means.
func (i *Inventory) findLocked(sel api.ModelSelect) (placed, error) {
	i.refreshLocked()
	var all []placed
	for _, m := range i.allLocked() {
		isMeant := m.Model.Model == sel.Model || m.Path == sel.Model
		if isMeant && (sel.Revision == "" || strings.HasPrefix(m.Revision, sel.Revision) || slices.Contains(m.Refs, sel.Revision)) {
			all = append(all, m)
		}
	}
	branch := cmp.Or(sel.Revision, "main")
	if exact := slices.DeleteFunc(slices.Clone(all), func(m placed) bool {
		return m.Revision != branch && !slices.Contains(m.Refs, branch)
	}); len(exact) > 0 {
		all = exact
	}
	switch len(all) {
	case 0:
		return placed{}, api.NewError(api.ReasonNoSuchModel, strings.TrimSuffix(sel.Model+" "+sel.Revision, " "))
	case 1:
		return all[0], nil
	}
	var names []string
	for _, m := range all[:min(len(all), maxNamed)] {
		names = append(names, cmp.Or(m.Revision, m.Path))
	}
	return placed{}, api.Errorf(api.ReasonAmbiguousName, sel.Model, "There are several of %s: %s.", sel.Model, strings.Join(names, ", ")).
		WithRemedy("Name one by its revision, or by its folder.")
}

// open finds a model and opens the folder that it is in.
func (i *Inventory) open(sel api.ModelSelect) (placed, *os.Root, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	m, err := i.findLocked(sel)
	if err != nil {
		return m, nil, err
	}
	opened, err := os.OpenRoot(m.root.real)
	return m, opened, err
}
