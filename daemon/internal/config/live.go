package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
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
	watch   *watch

	change sync.Mutex // one change at a time, from reading to commit

	mu          sync.Mutex // guards what follows, never held while others are called
	seen        string     // the text that was looked at last
	parsed      *Parsed
	inForce     Config
	status      Status
	subscribers []*Subscriber
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

// Path is the file.
func (l *Live) Path() string { return l.path }

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

// Subscribe has a part of the daemon take part in every change from now on. It
// returns the configuration in force, which the subscriber is not told of, and
// the function that ends it.
func (l *Live) Subscribe(s Subscriber) (current Config, cancel func()) {
	l.change.Lock()
	defer l.change.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subscribers = append(l.subscribers, &s)
	return l.inForce, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.subscribers = slices.DeleteFunc(slices.Clone(l.subscribers), func(o *Subscriber) bool { return o == &s })
	}
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
	next := l.next(parsed.Config)
	if err := verifyAll(l.all(), next); err != nil {
		return err
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
	l.commit(edited, parsed, next)
	return nil
}

// Close ends the watching. No subscriber is called after it has returned.
func (l *Live) Close() error {
	var err error
	if l.watch != nil {
		err = l.watch.close()
	}
	return err
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
	var next Config
	if err == nil {
		next = l.next(parsed.Config)
		err = verifyAll(l.all(), next)
	}
	if err == nil {
		l.commit(s, parsed, next)
		return
	}
	l.mu.Lock()
	l.seen = s
	status := l.status
	l.mu.Unlock()
	status.Error = api.AsError(err)
	l.report(status)
}

// commit puts a configuration in force that everybody has agreed to.
func (l *Live) commit(s string, parsed *Parsed, next Config) {
	l.mu.Lock()
	moved := !reflect.DeepEqual(l.inForce, next)
	l.seen, l.parsed, l.inForce = s, parsed, next
	status := Status{Unwatched: l.status.Unwatched, Restart: waiting(next, parsed.Config)}
	l.mu.Unlock()
	if moved {
		for _, s := range l.all() {
			if s.Commit != nil {
				s.Commit(next)
			}
		}
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

func (l *Live) all() []*Subscriber {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.subscribers
}

func (l *Live) report(s Status) {
	l.mu.Lock()
	news := !s.equal(l.status)
	l.status = s
	l.mu.Unlock()
	if news && l.options.Report != nil {
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

// Subscriber is a part of the daemon that a change concerns. Both functions are
// called from one goroutine at a time, and must not call the [Live]. Either may be nil.
type Subscriber struct {
	// Name is the part's, for the message of a refusal.
	Name string
	// Verify refuses what the part cannot do, and changes nothing.
	Verify func(next Config) error
	// Commit acts on a configuration that every part has agreed to. It cannot fail.
	Commit func(next Config)
}

// verifyAll asks everybody.
func verifyAll(all []*Subscriber, next Config) error {
	for _, s := range all {
		if s.Verify == nil {
			continue
		}
		if err := s.Verify(next); err != nil {
			message := err.Error()
			if e := api.AsError(err); e.Data.Reason != api.ReasonInternal {
				message = e.Message
			}
			return fmt.Errorf("%w [%w]", api.Errorf(api.ReasonConfigInvalid, s.Name,
				"The configuration was not taken: %s refuses it: %s", s.Name, message), err)
		}
	}
	return nil
}
