// Package inventory finds the models of one account, with the rights of the process that
// it runs in and no others: the cache of Hugging Face, folders that are named, and those
// of LM Studio and Ollama, which it never writes.
//
// What was read is kept. The system's events say which part may have changed, and that
// part alone is read again by the next question; nothing is done while nobody asks. Where
// the system does not follow a folder, it is read again for each answer.
//
// Nothing outside of these folders is opened, whatever links and files in them say.
package inventory

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"fulmen/daemon/api"
)

// Places is where an account keeps models.
type Places struct {
	// Home is the account's home folder.
	Home string `json:"home"`
	// HubCache and HFHome are HF_HUB_CACHE and HF_HOME of its environment.
	HubCache string `json:"hub_cache,omitempty"`
	HFHome   string `json:"hf_home,omitempty"`
	// Folders are others, by the configuration.
	Folders []string `json:"folders,omitempty"`
}

// roots are the folders to look into, each once.
func (p Places) roots() (all []*root) {
	home := func(at string) string { return filepath.Join(p.Home, at) }
	add := func(at string, source api.ModelSource) {
		at = filepath.Clean(at)
		if filepath.IsAbs(at) && !slices.ContainsFunc(all, func(r *root) bool { return r.Path == at }) {
			all = append(all, &root{ModelFolder: api.ModelFolder{Path: at, Source: source}})
		}
	}
	cache := home(".cache/huggingface/hub")
	if p.HFHome != "" {
		cache = filepath.Join(p.HFHome, "hub")
	}
	add(cmp.Or(p.HubCache, cache), api.ModelHub)
	for _, at := range p.Folders {
		add(at, api.ModelPlain)
	}
	add(home(".lmstudio/models"), api.ModelLMStudio)
	add(home(".cache/lm-studio/models"), api.ModelLMStudio)
	add(home(".ollama/models"), api.ModelOllama)
	return all
}

// Inventory is the models of an account. It may be used by many at once.
type Inventory struct {
	mu       sync.Mutex // one reads at a time
	roots    []*root
	follower follower

	hints hints
}

// root is a folder with models.
type root struct {
	api.ModelFolder
	real     string // where it is without links
	identity fs.FileInfo
	units    map[string]*unit // by their entry of the root
}

// unit is what one entry of a root holds.
type unit struct {
	models  []found
	refused []string
	folders map[string]struct{} // that are followed for it
	err     error
	isStale bool
}

// Open begins to follow an account's models. Nothing is read yet.
func Open(p Places) *Inventory {
	i := &Inventory{roots: p.roots()}
	i.follower = newFollower(&i.hints)
	return i
}

// Close ends the following.
func (i *Inventory) Close() error { return i.follower.Close() }

// refreshLocked reads what may have changed.
func (i *Inventory) refreshLocked() {
	i.follower.flush()
	paths, all := i.hints.drain()
	for _, r := range i.roots {
		_, moved := paths[r.real]
		isStale := all || !r.Followed || moved
		for name := range paths {
			rest, ok := strings.CutPrefix(name, r.real+string(filepath.Separator))
			if !ok || r.real == "" {
				continue
			}
			entry, _, _ := strings.Cut(rest, string(filepath.Separator))
			if r.Source == api.ModelOllama {
				entry = "."
			}
			for _, entry := range []string{entry, "."} {
				if u := r.units[entry]; u != nil {
					u.isStale = true
				}
			}
		}
		i.readLocked(r, isStale)
	}
}

// readLocked reads a root: its entries, and of these what is new or may have changed.
func (i *Inventory) readLocked(r *root, all bool) {
	opened, err := i.openLocked(r, &all)
	if err != nil {
		i.dropLocked(r)
		if !errors.Is(err, fs.ErrNotExist) {
			r.Error = unreadable(r.Path, err)
		}
		return
	}
	defer opened.Close()
	if all {
		r.Followed = true
	}
	if u := r.units["."]; !all && u != nil && !u.isStale { // no entry came or went
		for name, u := range r.units {
			if u.isStale {
				i.scanLocked(r, opened, name)
			}
		}
		r.sum()
		return
	}
	before := r.units
	r.units = map[string]*unit{".": before["."]}
	i.scanLocked(r, opened, ".")
	entries, err := fs.ReadDir(opened.FS(), ".")
	if err != nil {
		r.units["."].err = err
	}
	for _, e := range entries {
		name := e.Name()
		switch old := before[name]; {
		case r.Source == api.ModelOllama || strings.HasPrefix(name, ".") || e.Type().IsRegular():
		case r.isHub(name) && e.IsDir(), r.Source != api.ModelHub && e.IsDir() && !r.isModel():
			if r.units[name] = old; old == nil || old.isStale || all {
				i.scanLocked(r, opened, name)
			}
		case !e.IsDir():
			r.units["."].refused = append(r.units["."].refused, name)
		}
	}
	for name, u := range before {
		if r.units[name] == nil {
			i.unfollowLocked(r, u)
		}
	}
	r.sum()
}

// openLocked opens a root. all becomes true where it is not the folder that it was: a
// volume was mounted there, or another one.
func (i *Inventory) openLocked(r *root, all *bool) (*os.Root, error) {
	opened, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat(".")
	if err == nil && !os.SameFile(info, r.identity) {
		i.leaveLocked(r)
		*all, r.identity = true, info
		r.real, err = filepath.EvalSymlinks(r.Path)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	r.Error = nil
	return opened, nil
}

// isHub reports whether an entry is read as a repository of Hugging Face's cache.
func (r *root) isHub(entry string) bool {
	return strings.HasPrefix(entry, hubPrefix) && (r.Source == api.ModelHub || r.Source == api.ModelPlain)
}

// isModel reports whether the root itself is a model.
func (r *root) isModel() bool { return len(r.units["."].models) > 0 }

// scanLocked reads one entry of a root anew.
func (i *Inventory) scanLocked(r *root, opened *os.Root, name string) {
	if old := r.units[name]; old != nil {
		i.unfollowLocked(r, old)
	}
	u := &unit{folders: map[string]struct{}{}}
	s := scan{root: opened, base: r.real, source: r.Source, follow: func(folder string) {
		if err := i.followLocked(r, u, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Followed = false
		}
	}}
	switch {
	case r.Source == api.ModelOllama:
		s.follow(r.real)
		s.ollama()
	case name == "." && r.Source == api.ModelHub:
		s.follow(r.real)
	case r.isHub(name):
		s.hub(name)
	default:
		s.plain(name, 0)
	}
	u.models, u.refused, u.err = s.models, s.refused, s.err
	r.units[name] = u
}

// dropLocked forgets a root that is not there or cannot be read.
func (i *Inventory) dropLocked(r *root) {
	i.leaveLocked(r)
	*r = root{ModelFolder: api.ModelFolder{Path: r.Path, Source: r.Source}}
}

// leaveLocked follows nothing of a root any more.
func (i *Inventory) leaveLocked(r *root) {
	for _, u := range r.units {
		if u != nil {
			i.unfollowLocked(r, u)
		}
	}
}

// sum gathers what the units say of the root.
func (r *root) sum() {
	r.Refused, r.Error = nil, nil
	var all []string
	for _, u := range r.units {
		all = append(all, u.refused...)
		if u.err != nil && r.Error == nil {
			r.Error = unreadable(r.Path, u.err)
		}
	}
	r.Refused = named(all)
}

// unreadable is the error of a folder.
func unreadable(at string, err error) *api.Error {
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	out := api.Errorf(whyUnread(err), at, "%s cannot be read whole.", at)
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		where := ""
		if name := path.Base(named.Path); name != path.Base(at) && name != "." {
			where = name + ": "
		}
		out.Message = strings.TrimSuffix(out.Message, ".") + ": " + where + named.Err.Error() + "."
	}
	switch {
	case errors.Is(err, syscall.EPERM): // what macOS says of volumes and folders that it guards
		out = out.WithRemedy("Allow Fulmen to read it: System Settings, Privacy & Security, Full Disk Access. Then: fulmen restart")
	case errors.Is(err, fs.ErrPermission):
		out = out.WithRemedy("Give the account the right to read it, or leave it out of models.folders.")
	}
	return out
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }
