package profile

import (
	"fmt"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/profile/history"
)

// pathCondition is a condition of a path: what is wrong, and with what.
type pathCondition struct {
	code    api.Reason
	subject string
}

// judgeAll raises and clears the conditions of this node's paths, as their
// documents have it. What several paths over one cable say of it is said together.
func (p *Profiler) judgeAll(paths []Path) {
	p.judging.Lock()
	defer p.judging.Unlock()
	p.mu.Lock()
	known := map[string]api.LinkProfile{}
	for _, path := range paths {
		known[path.Name()] = p.paths[path.Name()]
	}
	p.mu.Unlock()
	details := map[pathCondition][]string{}
	for _, path := range paths {
		value := known[path.Name()]
		if path.IsMuted {
			continue
		}
		if drops := history.Drops(value); len(drops) > 0 && path.isWired() && !isAnother(path, value) {
			c := pathCondition{api.ReasonLinkBelowHistory, path.conditionSubject()}
			details[c] = append(details[c], p.says(path, drops))
		}
		if f := value.Failure; f != nil && f.Reason == api.ReasonRDMAProbeFailed {
			c := pathCondition{api.ReasonRDMAProbeFailed, path.conditionSubject()}
			details[c] = append(details[c], f.Message)
		}
	}
	p.mu.Lock()
	var cleared []pathCondition
	for c := range p.raised {
		if len(details[c]) == 0 {
			cleared = append(cleared, c)
			delete(p.raised, c)
		}
	}
	for c := range details {
		p.raised[c] = true
	}
	p.mu.Unlock()
	for _, c := range cleared {
		p.condition(c.code, c.subject, false, "")
	}
	for c, all := range details {
		p.condition(c.code, c.subject, true, strings.Join(all, "; "))
	}
}

// conditionSubject is what the condition of a path is about: the cable, where it is
// one. A cable that carries several addresses is named once.
func (p Path) conditionSubject() string {
	if p.Link.Valid() {
		return p.Link.String()
	}
	return p.Name()
}

// says is what a path gives, between which ports, and what it gave.
func (p *Profiler) says(path Path, drops []history.Drop) string {
	here, there := p.cfg.Name(p.cfg.Node), p.cfg.Name(path.Peer)
	where := fmt.Sprintf("%s (%s) and %s", here, path.Interface, there)
	if near, ok := path.Link.End(p.cfg.Node); ok {
		far := path.Link.Low
		if far == near {
			far = path.Link.High
		}
		where = fmt.Sprintf("the cable between %s:%s and %s:%s", here, near.Receptacle, there, far.Receptacle)
	}
	if path.Transport == api.TransportRDMA {
		where += " over RDMA"
	}
	var ways []string
	for _, d := range drops {
		to := there
		if d.IsDown {
			to = here
		}
		ways = append(ways, fmt.Sprintf("%.3g Gb/s to %s where it gave %.3g", float64(d.NowBitsPerS)/1e9, to, float64(d.UsualBitsPerS)/1e9))
	}
	return where + ": " + strings.Join(ways, ", ")
}
