package darwin

import (
	"errors"

	"fulmen/native"
)

// publication is an announcement on its interfaces.
type publication struct {
	announcement native.Announcement
	txt          []byte
	at           map[string]int // the index under which an interface is published
	tokens       map[string]int64
	last         int64
}

func (p *publication) interfacesAre(r responder, indexes map[string]int) error {
	var failed error
	for _, name := range p.announcement.Interfaces {
		if index := indexes[name]; index != p.at[name] {
			failed = errors.Join(failed, p.move(r, name, index))
		}
	}
	return failed
}

// move publishes an interface under another index; 0 is one that has gone.
func (p *publication) move(r responder, name string, index int) error {
	if token, published := p.tokens[name]; published {
		r.end(token)
		delete(p.tokens, name)
		delete(p.at, name)
	}
	if index == 0 {
		return nil
	}
	p.last++
	a := p.announcement
	if err := r.register(p.last, index, a.Instance, a.Type, a.Port, p.txt); err != nil {
		return err
	}
	p.tokens[name], p.at[name] = p.last, index
	return nil
}

// lost has every interface published again.
func (p *publication) lost(responder) {
	clear(p.at)
	clear(p.tokens)
}

// handle hears that a name was registered, or was somebody else's: instances are
// unique by their making, and a conflict is an echo of the machine's own.
func (p *publication) handle(responder, found) error { return nil }
