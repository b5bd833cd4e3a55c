package tray

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/systray"

	"fulmen/app"
	"fulmen/native/waker"
)

// reads is how long a menu that was opened counts as being read: the system
// tells when a menu is opened and not when it is closed. A click ends it.
const reads = 30 * time.Second

// Tray is the menu bar's item. There is one in a process.
type Tray struct {
	icons  func(app.Icon) []byte
	clicks chan app.Item
	opened waker.Waker

	// readTill is until when somebody may be reading, in Unix nanoseconds. It has no
	// lock: the system tells of a menu that opens on a thread which Draw may wait for.
	readTill atomic.Int64

	mu     sync.Mutex
	shown  app.Menu
	latest app.Menu
	drawn  bool
	lines  map[string]*systray.MenuItem
	queue  []app.Item
	wake   waker.Waker
	closed chan struct{}
	shut   sync.Once
	timer  *time.Timer
}

// New makes the tray; icons gives the picture of a state as a PNG, black on
// nothing, as template images are. It draws nothing before the system's loop is
// ready: see Ready.
func New(icons func(app.Icon) []byte) *Tray {
	t := &Tray{icons: icons, clicks: make(chan app.Item), opened: waker.New(), lines: map[string]*systray.MenuItem{},
		wake: waker.New(), closed: make(chan struct{})}
	go t.deliver()
	return t
}

// Ready starts to take events; to be called once systray's loop runs.
func (t *Tray) Ready() {
	go func() {
		for {
			select {
			case <-systray.TrayOpenedCh:
				t.readTill.Store(time.Now().Add(reads).UnixNano())
				t.opened.Wake()
			case <-t.closed:
				return
			}
		}
	}()
}

// Close ends the deliveries. The picture goes with systray's loop.
func (t *Tray) Close() { t.shut.Do(func() { close(t.closed) }) }

// Clicks gives the lines that were clicked, in order, as they were then.
func (t *Tray) Clicks() <-chan app.Item { return t.clicks }

// Opened has a token when the menu was opened.
func (t *Tray) Opened() <-chan struct{} { return t.opened }

// Reading reports whether somebody may be reading the menu.
func (t *Tray) Reading() bool { return t.reads() > 0 }

// reads is how long somebody may still be reading.
func (t *Tray) reads() time.Duration { return time.Until(time.Unix(0, t.readTill.Load())) }

// Draw shows a menu: what changed in place, or, where lines came or went and
// nobody reads, anew.
func (t *Tray) Draw(m app.Menu) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = m
	t.redraw()
}

// redraw brings the screen to the latest menu as far as it may. Callers hold the lock.
func (t *Tray) redraw() {
	next := t.latest
	if left := t.reads(); t.drawn && left > 0 {
		next = app.Hold(t.shown, next)
		if t.timer == nil { // what was held back comes when nobody reads
			t.timer = time.AfterFunc(left, func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.timer = nil
				t.redraw()
			})
		}
	}
	t.frame(next)
	if !t.drawn || !alike(t.shown.Items, next.Items) {
		systray.ResetMenu()
		clear(t.lines)
		t.build(nil, next.Items)
	} else {
		t.update(t.shown.Items, next.Items)
	}
	t.shown, t.drawn = next, true
}

// frame sets what stands in the menu bar itself.
func (t *Tray) frame(next app.Menu) {
	if !t.drawn || t.shown.Icon != next.Icon {
		picture := t.icons(next.Icon)
		systray.SetTemplateIcon(picture, picture)
	}
	if !t.drawn || t.shown.Title != next.Title {
		systray.SetTitle(next.Title)
	}
	if !t.drawn || t.shown.Tooltip != next.Tooltip {
		systray.SetTooltip(next.Tooltip)
	}
}

// alike reports whether two menus have the same lines, so that one can become
// the other in place.
func alike(a, b []app.Item) bool {
	return slices.EqualFunc(a, b, func(x, y app.Item) bool {
		return x.ID == y.ID && x.IsSeparator() == y.IsSeparator() && alike(x.Items, y.Items)
	})
}

// build adds lines at the end of the menu, or of a line's submenu.
func (t *Tray) build(parent *systray.MenuItem, items []app.Item) {
	for _, i := range items {
		var line *systray.MenuItem
		switch {
		case i.IsSeparator() && parent == nil:
			systray.AddSeparator()
			continue
		case i.IsSeparator():
			parent.AddSeparator()
			continue
		case parent == nil && i.Checked:
			line = systray.AddMenuItemCheckbox("", i.Tooltip, true)
		case parent == nil:
			line = systray.AddMenuItem("", i.Tooltip)
		case i.Checked || i.Do != nil:
			line = parent.AddSubMenuItemCheckbox("", i.Tooltip, i.Checked)
		default:
			line = parent.AddSubMenuItem("", i.Tooltip)
		}
		if i.Disabled {
			line.Disable()
		}
		t.lines[i.ID] = line
		// Systray drops a click for which nobody waits yet; here it finds room. A line
		// has its title from then on: what can be read can be clicked.
		line.ClickedCh = make(chan struct{}, 1)
		line.SetTitle(i.Title) // takes systray's lock, so that it sees that channel
		go t.listen(i.ID, line.ClickedCh)
		t.build(line, i.Items)
	}
}

// update changes lines in place.
func (t *Tray) update(shown, next []app.Item) {
	for n, i := range next {
		was, line := shown[n], t.lines[i.ID]
		if line == nil {
			continue // a line between lines
		}
		if was.Title != i.Title {
			line.SetTitle(i.Title)
		}
		if was.Tooltip != i.Tooltip {
			line.SetTooltip(i.Tooltip)
		}
		if was.Checked != i.Checked && i.Checked {
			line.Check()
		} else if was.Checked != i.Checked {
			line.Uncheck()
		}
		if was.Disabled != i.Disabled && i.Disabled {
			line.Disable()
		} else if was.Disabled != i.Disabled {
			line.Enable()
		}
		t.update(was.Items, i.Items)
	}
}

// listen takes the clicks of one line until it is removed. Systray drops a click
// while another one waits, so nothing is done here but to note it.
func (t *Tray) listen(id string, clicked <-chan struct{}) {
	for range clicked {
		t.mu.Lock()
		// What was drawn last is what the person saw. A click on a line that can only
		// be read is possible on some screens.
		if i, found := t.shown.Find(id); found && !i.Disabled && i.Do != nil {
			t.queue = append(t.queue, i)
			t.readTill.Store(0) // a click closes the menu
			t.redraw()
		}
		t.mu.Unlock()
		t.wake.Wake()
	}
}

// deliver hands clicks over, one after the other.
func (t *Tray) deliver() {
	for {
		t.mu.Lock()
		var next app.Item
		waiting := len(t.queue) > 0
		if waiting {
			next, t.queue = t.queue[0], t.queue[1:]
		}
		t.mu.Unlock()
		if waiting {
			select {
			case t.clicks <- next:
				continue
			case <-t.closed:
				return
			}
		}
		select {
		case <-t.wake:
		case <-t.closed:
			return
		}
	}
}

// Loop runs the system's loop with the picture in it until Quit; ready is called
// once it runs.
func Loop(ready func()) { systray.Run(ready, nil) }

// Quit ends the loop.
func Quit() { systray.Quit() }

// External readies the picture for a loop that somebody else runs; ready is
// called once the picture is there. What it gives is to be called on the main
// thread when that loop has begun.
func External(ready func()) (start func()) {
	start, _ = systray.RunWithExternalLoop(ready, nil)
	return start
}
