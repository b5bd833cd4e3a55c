package linux

import (
	"time"

	"github.com/miekg/dns"
)

// mostInterval is the longest time between two questions for all instances
// (RFC 6762, 5.2 allows no more); announcements tell what comes in between.
const mostInterval = time.Hour

// due is when there is something to ask or to forget next.
func (e *mdnsEar) due() time.Duration {
	next := e.ask
	for _, i := range e.instances {
		for _, l := range e.leases(i) {
			next = min(next, l.until)
			if at, ok := l.renewal(i.later); ok {
				next = min(next, at)
			}
		}
		if i.missing.tries > 0 && i.missing.tries <= mostTries {
			next = min(next, i.missing.from)
		}
	}
	return next
}

// leases are those of the records that an instance is known by.
func (e *mdnsEar) leases(i *heardInstance) []*lease {
	all := []*lease{&i.pointer}
	if i.service.until > 0 {
		all = append(all, &i.service)
	}
	if i.text.until > 0 {
		all = append(all, &i.text)
	}
	for _, l := range e.hosts[i.host] {
		all = append(all, l)
	}
	return all
}

// questions are what is due to be asked, and with what is known already.
func (e *mdnsEar) questions(now time.Duration) (questions []dns.Question, known []dns.RR) {
	all := now >= e.ask
	if all {
		e.ask, e.interval = now+e.interval, min(3*e.interval, mostInterval)
	}
	for _, i := range e.instances {
		if len(questions) >= mostQuestions {
			break
		}
		if e.renew(now, &i.pointer, i.later) {
			// The answer to this brings all the rest with it.
			all = true
			for _, l := range e.leases(i)[1:] {
				e.renew(now, l, i.later)
			}
			continue
		}
		questions = append(questions, e.questionsOf(now, i)...)
	}
	if !all {
		return questions, nil
	}
	for _, i := range e.instances {
		// What has more than half of its life before it need not be told again
		// (RFC 6762, 7.1), as long as all the rest of it is known as well.
		left, life := i.pointer.until-now, i.pointer.until-i.pointer.from
		if i.reported != nil && left > life/2 && len(known) < mostQuestions {
			header := dns.RR_Header{Name: e.serviceType, Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: uint32(left / time.Second)}
			known = append(known, &dns.PTR{Hdr: header, Ptr: i.name})
		}
	}
	return append(questions, question(e.serviceType, dns.TypePTR)), known
}

// questionsOf asks for parts of an instance that end soon or have not come.
func (e *mdnsEar) questionsOf(now time.Duration, i *heardInstance) (questions []dns.Question) {
	missing := false
	if i.reported == nil && i.pointer.alive(now) {
		switch {
		case i.missing.tries == 0:
			// What belongs together may come in several messages.
			i.missing = lease{from: now + 100*time.Millisecond, tries: 1}
		case i.missing.tries <= mostTries && now >= i.missing.from:
			missing = true
			i.missing = lease{from: now + time.Second<<i.missing.tries, tries: i.missing.tries + 1}
		}
	}
	if e.renew(now, &i.service, i.later) || missing && !i.service.alive(now) {
		questions = append(questions, question(i.name, dns.TypeSRV))
	}
	if e.renew(now, &i.text, i.later) || missing && !i.text.alive(now) {
		questions = append(questions, question(i.name, dns.TypeTXT))
	}
	ofHost := missing && i.host != "" && len(e.hosts[i.host]) == 0
	for _, l := range e.hosts[i.host] {
		ofHost = e.renew(now, l, i.later) || ofHost
	}
	if ofHost {
		questions = append(questions, question(i.host, dns.TypeA), question(i.host, dns.TypeAAAA))
	}
	return questions
}

// renew reports whether a record is to be asked for again, and counts the try.
func (e *mdnsEar) renew(now time.Duration, l *lease, later float64) bool {
	at, ok := l.renewal(later)
	if !ok || now < at {
		return false
	}
	l.tries++
	return true
}

func question(name string, rrtype uint16) dns.Question {
	return dns.Question{Name: name, Qtype: rrtype, Qclass: dns.ClassINET}
}
