package app

import (
	"cmp"
	"slices"
	"time"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

const (
	// settles is how long a Mac must be gone, or a problem last, before it is told:
	// a flap is no news.
	settles = 20 * time.Second
	// longWait is how long a job waits for Macs before that is told.
	longWait = 10 * time.Minute
)

// Notice is a notification. One with the same ID replaces the last.
type Notice struct {
	// ID tells what it is about.
	ID string
	// Title is its first line.
	Title string
	// Text is the rest.
	Text string
	// Open is what a click on it opens.
	Open string
}

// Notifier decides what of the changing state is worth a notification. It keeps
// what it has told; the zero value has told nothing, and takes what it sees
// first as known.
type Notifier struct {
	began   bool
	jobs    map[api.JobID]jobSeen
	away    map[api.NodeID]lasting
	trouble map[string]lasting
	asked   map[api.NodeID]bool
}

type jobSeen struct {
	phase         api.JobPhase
	reportedDelay bool
}

// lasting is something that is told when it has lasted.
type lasting struct {
	since    time.Time
	reported bool
}

// See takes a state in and gives what to tell now. A state without a daemon
// tells nothing and is forgotten. due is when to call again though nothing
// changes; zero where that is not needed.
func (n *Notifier) See(s State) (notices []Notice, due time.Time) {
	if s.Daemon != DaemonRunning || !s.Setup.hasDaemon() {
		return nil, time.Time{}
	}
	if !n.began {
		n.jobs, n.away = map[api.JobID]jobSeen{}, map[api.NodeID]lasting{}
		n.trouble, n.asked = map[string]lasting{}, map[api.NodeID]bool{}
	}
	soonest := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	notices = append(notices, n.seeJobs(&s, soonest)...)
	notices = append(notices, n.seeNodes(&s, soonest)...)
	notices = append(notices, n.seeTrouble(&s, soonest)...)
	notices = append(notices, n.seePending(&s)...)
	if !n.began {
		n.began, notices = true, nil
	}
	return notices, due
}

// seeJobs tells how the person's own jobs ended, and that one waits long.
func (n *Notifier) seeJobs(s *State, soonest func(time.Time)) (notices []Notice) {
	now := map[api.JobID]jobSeen{}
	for _, j := range s.Jobs {
		if !j.Mine {
			continue
		}
		was, known := n.jobs[j.Job]
		seen := jobSeen{phase: j.Phase, reportedDelay: was.reportedDelay}
		notice := Notice{ID: "job:" + string(j.Job), Text: j.Message, Open: "dashboard:/job/" + string(j.Job)}
		switch {
		case j.Phase.Ended() && (known && !was.phase.Ended() || !known && n.began && s.Now.Sub(j.EndedAt.Time) < lately):
			if j.Phase == api.JobStopped && j.Reason == api.ReasonStoppedByPerson {
				break // who stopped it knows
			}
			notice.Title = s.jobName(j) + " " + map[api.JobPhase]string{api.JobSucceeded: "is done", api.JobFailed: "failed", api.JobStopped: "was stopped"}[j.Phase]
			if j.Phase == api.JobSucceeded {
				notice.Text = apptext.Count(max(j.Ranks, 1), "rank") + ", " + since(j.EndedAt.Time, j.SubmittedAt.Time) + "."
			}
			notices = append(notices, notice)
		case j.Phase == api.JobPlacing && !seen.reportedDelay:
			if at := j.SubmittedAt.Add(longWait); s.Now.Before(at) {
				soonest(at)
				break
			}
			seen.reportedDelay = true
			notice.Title = s.jobName(j) + " has waited for 10 min"
			notice.Text = cmp.Or(j.Message, "No set of Macs can run it now.")
			notices = append(notices, notice)
		}
		now[j.Job] = seen
	}
	n.jobs = now
	return notices
}

// seeNodes tells once that a Mac is not reached, and once that it is back.
func (n *Notifier) seeNodes(s *State, soonest func(time.Time)) (notices []Notice) {
	for _, m := range s.sorted() {
		id := m.NodeView.Node
		notice := Notice{ID: "node:" + string(id), Open: "dashboard:/node/" + string(id)}
		was, isAway := n.away[id]
		switch lost := m.Liveness == api.LivenessUnreachable; {
		case lost && !isAway:
			n.away[id] = lasting{since: s.Now, reported: !n.began}
			soonest(s.Now.Add(settles))
		case lost && !was.reported:
			if at := was.since.Add(settles); s.Now.Before(at) {
				soonest(at)
				break
			}
			n.away[id] = lasting{since: was.since, reported: true}
			notice.Title, notice.Text = s.name(id)+" cannot be reached", clean(m.Message)
			notices = append(notices, notice)
		case isAway && m.Liveness == api.LivenessAlive:
			delete(n.away, id)
			if was.reported {
				notice.Title, notice.Text = s.name(id)+" is back", ""
				notices = append(notices, notice)
			}
		}
	}
	for id := range n.away {
		if !slices.ContainsFunc(s.Nodes, func(m Node) bool { return m.NodeView.Node == id }) {
			delete(n.away, id)
		}
	}
	return notices
}

// seeTrouble tells of errors that last.
func (n *Notifier) seeTrouble(s *State, soonest func(time.Time)) (notices []Notice) {
	now := map[string]lasting{}
	for _, c := range s.shown() {
		if c.Severity != api.SeverityError {
			continue
		}
		id := conditionID(c)
		seen, known := n.trouble[id]
		if !known {
			seen = lasting{since: s.Now, reported: !n.began}
		}
		if at := seen.since.Add(settles); !seen.reported && s.Now.Before(at) {
			soonest(at)
		} else if !seen.reported {
			seen.reported = true
			notices = append(notices, Notice{ID: id, Title: clean(s.where(c) + c.Text), Text: clean(c.Remedy), Open: "dashboard:/conditions"})
		}
		now[id] = seen
	}
	n.trouble = now
	return notices
}

// seePending tells of a Mac that asks to be added.
func (n *Notifier) seePending(s *State) (notices []Notice) {
	now := map[api.NodeID]bool{}
	for _, p := range s.asking() {
		now[p.Peer] = true
		if !n.asked[p.Peer] {
			notices = append(notices, Notice{ID: "pending:" + string(p.Peer), Title: "“" + clean(p.Name) + "” wants to join",
				Text: "Enter the code that it shows in Fulmen's menu.", Open: "dashboard:/pairing"})
		}
	}
	n.asked = now
	return notices
}
