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
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"

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

// maxFollowed is how many folders are followed at most, or on macOS, where following a
// folder opens what is in it, files and folders.
const maxFollowed = 4096

// Inventory is the models of an account. It may be used by many at once.
type Inventory struct {
	mu       sync.Mutex // one reads at a time
	roots    []*root
	watcher  *fsnotify.Watcher // nil where the system has none
	followed int

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
	folders map[string]int // that are followed for it, and what each costs
	err     error
	isStale bool
}

// Open begins to follow an account's models. Nothing is read yet.
func Open(p Places) *Inventory {
	i := &Inventory{roots: p.roots()}
	var err error
	if i.watcher, err = fsnotify.NewWatcher(); err != nil {
		i.watcher = nil // it is read again for each answer
		return i
	}
	go i.hints.take(i.watcher)
	return i
}

// Close ends the following.
func (i *Inventory) Close() error {
	if i.watcher == nil {
		return nil
	}
	return i.watcher.Close()
}

// hints are the paths at which something may have changed.
type hints struct {
	mu    sync.Mutex
	paths map[string]struct{}
	all   bool // events were lost
}

// maxHints is how many are told apart.
const maxHints = 10_000

func (h *hints) take(w *fsnotify.Watcher) {
	note := func(name string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.paths == nil {
			h.paths = map[string]struct{}{}
		}
		if h.all = h.all || name == "" || len(h.paths) >= maxHints; !h.all {
			h.paths[name] = struct{}{}
		}
	}
	for {
		select {
		case event, ok := <-w.Events:
			if !ok {
				return
			}
			note(event.Name)
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			note("")
		}
	}
}

func (h *hints) drain() (paths map[string]struct{}, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	paths, all = h.paths, h.all
	h.paths, h.all = nil, false
	return paths, all
}

// refreshLocked reads what may have changed.
func (i *Inventory) refreshLocked() {
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
		r.Followed = i.watcher != nil
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
			i.unfollowLocked(u)
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
		i.unfollowLocked(old)
	}
	u := &unit{folders: map[string]int{}}
	s := scan{root: opened, base: r.real, source: r.Source, follow: func(folder string) {
		cost, err := i.followLocked(folder)
		switch {
		case err == nil:
			u.folders[folder] = cost
		case !errors.Is(err, fs.ErrNotExist):
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

// errUnfollowed is matched where the system or a limit does not let a folder be followed.
var errUnfollowed = errors.New("too many folders to follow")

// followLocked follows a folder, and says what that costs of maxFollowed.
func (i *Inventory) followLocked(folder string) (cost int, err error) {
	cost = 1
	if runtime.GOOS == "darwin" {
		entries, _ := os.ReadDir(folder) // one that cannot be read is not followed either
		cost += len(entries)
	}
	if i.watcher == nil || i.followed+cost > maxFollowed {
		return 0, errUnfollowed
	}
	if err = i.watcher.Add(folder); err == nil {
		i.followed += cost
	}
	return cost, err
}

func (i *Inventory) unfollowLocked(u *unit) {
	for folder, cost := range u.folders {
		i.followed -= cost
		_ = i.watcher.Remove(folder) // it may be gone
	}
	u.folders = nil
}

// dropLocked forgets a root that is not there or cannot be read.
func (i *Inventory) dropLocked(r *root) {
	for _, u := range r.units {
		if u != nil {
			i.unfollowLocked(u)
		}
	}
	*r = root{ModelFolder: api.ModelFolder{Path: r.Path, Source: r.Source}}
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
