package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/native"
)

// Options are what a Live is opened with.
type Options struct {
	// Trust refuses a file that others can change; nil trusts every one.
	Trust func(path string) error
	// Report is called when the status changes, from one goroutine at a time; it
	// must not call the Live. It may be nil.
	Report func(Status)
}

// Live is the configuration in force, and the file that it comes from.
type Live struct {
	path    string
	options Options
	watch   *home.Watch // nil where the folder cannot be watched

	change sync.Mutex // one change at a time, from reading to commit

	mu      sync.Mutex // guards what follows, never held while others are called
	seen    string     // the text that was looked at last
	parsed  *Parsed
	inForce Config
	status  Status
	changed func(Config) // nil: nobody wants to know
}

// Open reads the file, which need not exist, and watches its folder, which must.
// A file with an error is an error here: there is nothing else to have in force.
// If the folder cannot be watched the status says so.
func Open(path string, options Options) (*Live, error) {
	l := &Live{path: path, options: options}
	s, err := l.read()
	if err != nil {
		return nil, err
	}
	if l.parsed, err = l.parse(s); err != nil {
		return nil, err
	}
	l.seen, l.inForce = s, l.parsed.Config
	l.watch, err = startWatch(path, l.reload)
	if err != nil {
		l.status.Unwatched = unwatched(path, err)
		l.report(l.status)
	}
	// What was saved between reading and watching.
	l.reload()
	return l, nil
}

// Current is the configuration in force.
func (l *Live) Current() Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inForce
}

// Status is how the file and what is in force relate.
func (l *Live) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Listing is all keys with the values in force, as the API shows them.
func (l *Live) Listing() api.DaemonConfigResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	return api.DaemonConfigResult{File: l.path, Keys: l.parsed.Listing(l.inForce), Error: l.status.Error}
}

// IsSet reports whether the file says a key itself.
func (l *Live) IsSet(key string) bool {
	return slices.ContainsFunc(l.Listing().Keys, func(k api.ConfigKey) bool { return k.Key == key && k.Set })
}

// OnChange has f act on every configuration that is put in force from now on. It is called
// from one goroutine at a time, and must not call the Live.
func (l *Live) OnChange(f func(next Config)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed = f
}

// Set changes keys in the file and puts them in force, all or none. A file that
// has an error is not touched.
func (l *Live) Set(changes ...Change) error {
	l.change.Lock()
	defer l.change.Unlock()
	s, err := l.read()
	if err != nil {
		return err
	}
	edited, parsed, err := Edit(s, changes)
	if err != nil {
		return l.named(err)
	}
	if edited != s {
		mode := fs.FileMode(0o644)
		if info, err := os.Stat(l.path); err == nil {
			mode = info.Mode().Perm()
		}
		if err := home.WriteFile(l.path, []byte(edited), mode); err != nil {
			return err
		}
	}
	l.commit(edited, parsed)
	return nil
}

// Close ends the watching. No subscriber is called after it has returned.
func (l *Live) Close() error {
	if l.watch == nil {
		return nil
	}
	return l.watch.Close()
}

// reload looks at the file, and puts it in force or says why not.
func (l *Live) reload() {
	l.change.Lock()
	defer l.change.Unlock()
	s, err := l.read()
	if err == nil {
		l.mu.Lock()
		known := s == l.seen && l.status.Error == nil
		l.mu.Unlock()
		if known {
			return
		}
	}
	var parsed *Parsed
	if err == nil {
		parsed, err = l.parse(s)
	}
	if err == nil {
		l.commit(s, parsed)
		return
	}
	l.mu.Lock()
	l.seen = s
	status := l.status
	l.mu.Unlock()
	status.Error = api.AsError(err)
	l.report(status)
}

// commit puts a configuration in force.
func (l *Live) commit(s string, parsed *Parsed) {
	next := l.next(parsed.Config)
	l.mu.Lock()
	moved, changed := !reflect.DeepEqual(l.inForce, next), l.changed
	l.seen, l.parsed, l.inForce = s, parsed, next
	status := Status{Unwatched: l.status.Unwatched, Restart: waiting(next, parsed.Config)}
	l.mu.Unlock()
	if moved && changed != nil {
		changed(next)
	}
	l.report(status)
}

// next is what can be in force of a configuration: keys that need a restart
// stay as they are.
func (l *Live) next(file Config) Config {
	current := l.Current()
	for _, f := range Fields() {
		if f.Restart {
			if err := f.set(&file, f.get(&current)); err != nil {
				panic("config: " + f.Key + " does not take its own value: " + err.Error())
			}
		}
	}
	return file
}

// waiting are the keys of which the file has another value than is in force.
func waiting(inForce, file Config) []string {
	var out []string
	for _, f := range Fields() {
		if !reflect.DeepEqual(f.get(&inForce), f.get(&file)) {
			out = append(out, f.Key)
		}
	}
	return out
}

func (l *Live) report(s Status) {
	l.mu.Lock()
	isNew := !s.equal(l.status)
	l.status = s
	l.mu.Unlock()
	if isNew && l.options.Report != nil {
		l.options.Report(s)
	}
}

// read is the text of the file; empty if there is none in a folder that is there.
func (l *Live) read() (string, error) {
	if l.options.Trust != nil {
		if err := l.options.Trust(l.path); err != nil {
			return "", err
		}
	}
	s, err := readSome(l.path, MaxBytes+1)
	if errors.Is(err, fs.ErrNotExist) {
		if _, folder := os.Stat(folderOf(l.path)); folder == nil {
			return "", nil
		}
	}
	return s, home.Explain(err, "read", l.path)
}

func (l *Live) parse(s string) (*Parsed, error) {
	parsed, err := Parse(s)
	return parsed, l.named(err)
}

// named puts the name of the file into an error of parsing.
func (l *Live) named(err error) error {
	if p, ok := errors.AsType[*ParseError](err); ok {
		return p.In(l.path)
	}
	return err
}

// Status is how the file and what is in force relate.
type Status struct {
	// Error is what is wrong with the file; what was in force before still is.
	// nil if the file is in force.
	Error *api.Error
	// Unwatched is why a change of the file will not be noticed; nil if it will.
	Unwatched *api.Error
	// Restart are the keys whose value in the file waits for a restart.
	Restart []string
}

func (s Status) equal(o Status) bool {
	return sameError(s.Error, o.Error) && sameError(s.Unwatched, o.Unwatched) && slices.Equal(s.Restart, o.Restart)
}

func sameError(a, b *api.Error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Message == b.Message
}

// Causes are what of it the node's health conditions show.
func (s Status) Causes() []api.Cause {
	var out []api.Cause
	for _, e := range []*api.Error{s.Error, s.Unwatched} {
		if e != nil {
			out = append(out, e.Cause())
		}
	}
	if len(s.Restart) > 0 { // a condition has one message
		out = append(out, api.Cause{Reason: api.ReasonNeedsRestart, Message: "A change of " + strings.Join(s.Restart, ", ") + " takes effect after a restart of the daemon."})
	}
	return out
}

const (
	// settle is the quiet after the last event at which the file is read.
	settle = 50 * time.Millisecond
	// settleMax bounds the wait for quiet.
	settleMax = time.Second
)

// startWatch calls a function when a file may have changed. It watches the folder, not
// the file: editors put a new file in its place. Where the file is a link, the folder
// that it leads to is watched too; what leads nowhere is noticed when the link itself
// changes.
func startWatch(path string, changed func()) (*home.Watch, error) {
	file, folder := filepath.Clean(path), folderOf(path)
	return home.NewWatch(settle, settleMax, func(w *fsnotify.Watcher) (func(string) bool, error) {
		target := file
		if resolved, err := filepath.EvalSymlinks(file); err == nil && w.Add(folderOf(resolved)) == nil {
			target = resolved
		}
		return func(name string) bool { return name == file || name == target || name == folder }, w.Add(folder)
	}, changed)
}

func unwatched(path string, err error) *api.Error {
	reason := api.ReasonReadFailed
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENOSPC) {
		reason = api.ReasonTooManyFiles // inotify calls the end of its watches a full disk
	}
	return api.Errorf(reason, path, "Changes of %s are not noticed%s.", path, native.ErrnoSuffix(err)).
		WithRemedy("Restart the daemon after changing the file, or change it with `fulmen config set`.")
}

func folderOf(path string) string { return filepath.Dir(filepath.Clean(path)) }

// readSome reads a file's beginning. It does not wait on what is no plain file.
func readSome(path string, limit int64) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &os.PathError{Op: "read", Path: path, Err: errors.New("it is not a plain file")}
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	return string(text), err
}
