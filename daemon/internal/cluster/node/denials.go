package node

import "sync"

// denials are the parts of this node that the system keeps from the local network. Each
// finds out by itself: macOS refuses searches and connections in different words.
type denials struct {
	tell func(detail string)

	mu     sync.Mutex
	search string
	dial   string
	told   string
}

// searched is what the last search found out, dialled what the last connection did.
func (d *denials) searched(detail string) {
	d.say(&d.search, "a search was refused, "+detail, detail != "")
}
func (d *denials) dialled(at string) { d.say(&d.dial, "no route to "+at, at != "") }

func (d *denials) say(of *string, text string, isDenied bool) {
	if !isDenied {
		text = ""
	}
	d.mu.Lock()
	defer d.mu.Unlock() // over the telling, so that the last word is the last told
	*of = text
	if now := d.search + d.dial; (now == "") == (d.told == "") {
		return
	}
	d.told = d.search + d.dial
	d.tell(d.told)
}
