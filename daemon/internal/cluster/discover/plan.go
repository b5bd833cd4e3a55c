package discover

import (
	"maps"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/native"
)

// plan is what is to be announced and where to search.
type plan struct {
	announcement native.Announcement // without its instance; no interfaces = none
	browse       []search
}

// search is one on an interface. One that went and came back is searched anew,
// even if nobody noticed in between.
type search struct {
	iface string
	turn  int
}

// plan turns the day over where it has, and says what is to be.
func (s *state) plan(now time.Time) plan {
	if s.table.cluster != "" && s.table.day != day(now) {
		s.turn(now)
	}
	var p plan
	for _, name := range slices.Sorted(maps.Keys(s.attachments)) {
		a := s.attachments[name]
		if !a.isUsable {
			continue
		}
		p.browse = append(p.browse, search{name, s.turns[name]})
		if a.isCable || s.pairing != "" || s.remembered.knows(s.remembered.fingerprint(a.kind, a.networks), now) {
			p.announcement.Interfaces = append(p.announcement.Interfaces, name)
		}
	}
	if s.table.cluster == "" {
		p.announcement.Interfaces = nil
	}
	p.announcement.Type, p.announcement.Port = ServiceType, s.port
	p.announcement.TXT = Text{
		Protocol: api.Protocol, Pairing: s.pairing,
		ID: cluster.DailyID(s.table.cluster, s.self, cluster.UseAnnounce, now),
	}.TXT()
	return p
}

// mostStep is the longest wait for midnight: the wall clock can be set, and
// nothing announces that.
const mostStep = time.Hour

// untilMidnight is how long the day of UTC lasts, at most an hour.
func untilMidnight(now time.Time) time.Duration {
	now = now.UTC()
	midnight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
	return min(midnight.Sub(now), mostStep)
}
