package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"fulmen/daemon/api"
)

// person is at the screen of a Mac that testdata/objc imitates: writes what
// to do, and reads what is seen.
type person struct {
	t       *testing.T
	writes  io.Writer
	seen    chan []string // but for the menu
	clicked chan bool     // whether the line that was clicked was there
	before  [][]string    // what was seen and not waited for yet

	mu      sync.Mutex
	lines   []*entry
	changed chan struct{} // closed when the menu is another one
}

// entry is a line of the menu, as systray was told to draw it.
type entry struct {
	line
	parent int32
}

func newPerson(t *testing.T, writes io.Writer, reads io.Reader) *person {
	p := &person{t: t, writes: writes, seen: make(chan []string, 1024), clicked: make(chan bool, 1), changed: make(chan struct{})}
	go func() {
		defer close(p.seen)
		for all := bufio.NewScanner(reads); all.Scan(); {
			words := strings.Split(all.Text(), "\t")
			if !p.draws(words) {
				p.seen <- words
			}
		}
	}()
	return p
}

// draws takes what is said of the menu.
func (p *person) draws(words []string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch words[0] {
	case "reset":
		p.lines = nil
	case "item":
		id, parent := number(words[1]), number(words[2])
		drawn := &entry{line{id: id, title: words[3], disabled: words[4] == "1", checked: words[5] == "1"}, parent}
		if i := slices.IndexFunc(p.lines, func(e *entry) bool { return e.id == id }); i >= 0 {
			p.lines[i] = drawn
		} else {
			p.lines = append(p.lines, drawn)
		}
	case "remove":
		p.lines = slices.DeleteFunc(p.lines, func(e *entry) bool { return e.id == number(words[1]) })
	case "selected":
		p.clicked <- words[2] == "1"
	default:
		return false
	}
	close(p.changed)
	p.changed = make(chan struct{})
	return true
}

func number(word string) int32 {
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

// below are the lines of a submenu; of 0, of the menu.
func (p *person) below(parent int32) (all []line) {
	for _, e := range p.lines {
		if e.parent == parent {
			l := e.line
			l.lines = p.below(e.id)
			all = append(all, l)
		}
	}
	return all
}

// shows waits for a line.
func (p *person) shows(titles ...string) line {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), timeout)
	defer cancel()
	for {
		p.mu.Lock()
		all, changed := p.below(0), p.changed
		p.mu.Unlock()
		if l, err := find(all, titles...); err == nil {
			return l
		}
		select {
		case <-changed:
		case <-ctx.Done():
			p.t.Fatalf("waited for %q; the menu is:\n%s", titles, drawn(all, ""))
		}
	}
}

// click opens the menu and chooses a line, which is waited for, and once more
// where the menu was drawn anew meanwhile.
func (p *person) click(titles ...string) {
	p.t.Helper()
	for isThere := false; !isThere; {
		p.does("menu")
		p.does("select", fmt.Sprint(p.shows(titles...).id))
		select {
		case isThere = <-p.clicked:
		case <-p.t.Context().Done():
			p.t.Fatal("the app ended")
		}
	}
}

// does writes what the person does.
func (p *person) does(words ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.writes, strings.Join(words, "\t")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits for something whose words have these in them, one by one from the
// first, and gives all of its words. Each is seen once.
func (p *person) sees(words ...string) []string {
	p.t.Helper()
	seen := p.seesWithin(timeout, words...)
	if seen == nil {
		p.t.Fatalf("waited for %q; there was %q", words, p.before)
	}
	return seen
}

// seesWithin is sees for so long; nil where there was nothing of that kind.
func (p *person) seesWithin(wait time.Duration, words ...string) []string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), wait)
	defer cancel()
	for {
		if i := slices.IndexFunc(p.before, func(seen []string) bool { return has(seen, words) }); i >= 0 {
			seen := p.before[i]
			p.before = slices.Delete(p.before, i, i+1)
			return seen
		}
		select {
		case seen, ok := <-p.seen:
			if !ok {
				p.t.Fatalf("the app ended before %q; there was %q", words, p.before)
			}
			p.before = append(p.before, seen)
		case <-ctx.Done():
			return nil
		}
	}
}

// opens opens the app, once more where its window does not come: what comes while a
// dialog is being put away is let fall.
func (p *person) opens() {
	p.t.Helper()
	for tries := 0; ; tries++ {
		p.does("open")
		if p.seesWithin(2*time.Second, "alert", "Fulmen") != nil {
			return
		}
		if tries == 60 {
			p.t.Fatalf("the window does not come; there was %q", p.before)
		}
	}
}

func has(seen, words []string) bool {
	if len(seen) < len(words) {
		return false
	}
	for i, w := range words {
		if !strings.Contains(seen[i], w) {
			return false
		}
	}
	return true
}

// answers waits for an alert with a title, types, and presses one of its buttons.
func (p *person) answers(title, button string, typed ...string) (alert []string) {
	p.t.Helper()
	alert = p.sees("alert", title)
	p.closes(title, button, typed...)
	return alert
}

// closes types into an alert that is there, and presses one of its buttons.
func (p *person) closes(title, button string, typed ...string) {
	p.t.Helper()
	p.does(append([]string{"press", button}, typed...)...)
	p.sees("closed", title)
}

// guarded is a door before a daemon's socket that lets nothing change RDMA before
// it was shown an authorization: a simulated daemon has nobody to check one.
type guarded struct {
	t      *testing.T
	behind string

	mu    sync.Mutex
	proof []byte // that was shown
}

// newGuarded gives the home of a client that comes to a daemon through the door.
func newGuarded(t *testing.T, home, behind string) *guarded {
	t.Helper()
	g := &guarded{t: t, behind: filepath.Join(behind, "run", api.SocketFile)}
	run := filepath.Join(home, "run")
	if err := os.MkdirAll(run, 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := net.Listen("unix", filepath.Join(run, api.SocketFile))
	if err == nil {
		err = os.Chmod(filepath.Join(run, api.SocketFile), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: g}
	go server.Serve(at)
	t.Cleanup(func() { server.Close() })
	return g
}

// ServeHTTP carries one connection.
func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	through := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", g.behind)
	}}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	daemon, answer, err := websocket.Dial(ctx, "ws://localhost"+api.PathAPI, &websocket.DialOptions{HTTPClient: &http.Client{Transport: through}})
	if err != nil {
		return
	}
	defer daemon.CloseNow()
	for name, values := range answer.Header {
		if strings.HasPrefix(name, "Fulmen-") {
			w.Header()[name] = values
		}
	}
	client, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer client.CloseNow()
	client.SetReadLimit(-1)
	daemon.SetReadLimit(-1)
	go func() {
		defer stop()
		for {
			kind, text, err := daemon.Read(ctx)
			if err != nil || client.Write(ctx, kind, text) != nil {
				return
			}
		}
	}()
	for {
		kind, text, err := client.Read(ctx)
		if err != nil {
			return
		}
		if answer := g.answers(text); answer != "" {
			err = client.Write(ctx, kind, []byte(answer))
		} else {
			err = daemon.Write(ctx, kind, text)
		}
		if err != nil {
			return
		}
	}
}

// answers is what the door itself answers to a call; nothing where the daemon does.
func (g *guarded) answers(text []byte) string {
	var call struct {
		ID     json.RawMessage
		Method string
		Params api.DaemonAuthorizeParams
	}
	if json.Unmarshal(text, &call) != nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case call.Method == "daemon.authorize":
		g.proof = call.Params.Authorization
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, call.ID)
	case (call.Method == "rdma.enable" || call.Method == "rdma.disable") && g.proof == nil:
		e, err := json.Marshal(api.NewError(api.ReasonAdminRequired, ""))
		if err != nil {
			g.t.Error(err)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, call.ID, e)
	}
	return ""
}
