package app

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apptext "fulmen/app/text"
	"fulmen/daemon/api"
)

// lately is how long the person's own job is shown after it ended.
const lately = 10 * time.Minute

// work are the jobs and the copies of models: one's own jobs, then those of others, each in the order in
// which they were submitted. One's own have a submenu.
func (s *State) work() []Item {
	jobs := slices.SortedFunc(slices.Values(s.Jobs), func(a, b api.JobSummary) int {
		return cmp.Or(first(a.Mine, b.Mine), a.SubmittedAt.Compare(b.SubmittedAt.Time), cmp.Compare(a.Job, b.Job))
	})
	var items []Item
	for _, j := range jobs {
		switch {
		case !j.Phase.Ended() && j.Mine:
			items = append(items, s.ownJob(j))
		case !j.Phase.Ended():
			items = append(items, info("job:"+string(j.Job), s.jobName(j)+"   "+s.jobWords(j)+" for "+clean(j.Principal.User)))
		case j.Mine && s.Now.Sub(j.EndedAt.Time) < lately:
			items = append(items, s.endedJob(j))
		}
	}
	for _, c := range s.Copies {
		items = append(items, Item{ID: "copy:" + c.Model + ":show", Title: shorten(clean(c.Model), 32) + "   " + s.copyWords(c), Do: &Do{Open: "dashboard:/models"}})
	}
	return items
}

// copyWords is where a model comes from, and how far it is.
func (s *State) copyWords(c api.ModelCopying) string {
	from := "Hugging Face"
	if c.From != "" {
		from = s.name(c.From)
	}
	line := "copying from " + from
	if p := c.Progress; p.TotalBytes > 0 {
		line += ", " + percent(float64(p.DoneBytes)/float64(p.TotalBytes))
	}
	return line
}

// jobName is what a job is called.
func (s *State) jobName(j api.JobSummary) string {
	return shorten(cmp.Or(clean(j.Name), string(j.Job)), 32)
}

// jobWords is how a job fares.
func (s *State) jobWords(j api.JobSummary) string {
	macs := apptext.Count(len(j.Nodes), "Mac")
	switch j.Phase {
	case api.JobQueued:
		if j.Reason == api.ReasonWaitingForJob {
			return "runs after another job"
		}
	case api.JobPlacing:
		line := ""
		if j.LinePosition > 0 {
			line = fmt.Sprintf("number %d in line, ", j.LinePosition)
		}
		return line + "waiting for Macs, " + since(s.Now, j.SubmittedAt.Time)
	case api.JobStarting:
		return "starting on " + macs
	case api.JobHandshake:
		return fmt.Sprintf("%d of %d joined", j.Joined, j.Ranks)
	case api.JobRunning:
		if j.Reason == api.ReasonNotReady {
			return "not ready, " + macs
		}
		if j.Reason == api.ReasonStalled {
			return "stalled, " + macs
		}
		if j.Serves != "" {
			macs = "serves " + shorten(clean(j.Serves), 32) + ", " + macs
		}
		return macs + ", " + since(s.Now, j.SubmittedAt.Time)
	case api.JobBackoff:
		if j.Reason == api.ReasonPreempted {
			return "made room for another job, comes back"
		}
		return fmt.Sprintf("attempt %d failed, trying again", j.Attempt)
	case api.JobHomeLost:
		return "the Mac that manages it is gone"
	case api.JobSucceeded:
		return "done"
	}
	return string(j.Phase) // queued, ending, stopped, failed
}

// ownJob is the line of a job that can be stopped.
func (s *State) ownJob(j api.JobSummary) Item {
	item := s.jobItem(j, "")
	id := item.ID
	for rank, node := range j.Nodes {
		item.Items = append(item.Items, info(fmt.Sprintf("%s:rank:%d", id, rank), fmt.Sprintf("Rank %d on %s", rank, s.name(node))))
	}
	item.Items = append(item.Items, logsOf(j))
	if j.Phase == api.JobHomeLost {
		item.Items = append(item.Items, Item{ID: id + ":take_over", Title: "Take Over on This Mac", Do: &Do{
			Call: &Call{Method: "job.take_over", Params: api.JobSelect{Job: j.Job}},
			Confirm: &Confirm{Title: "Take over “" + s.jobName(j) + "” on this Mac?", Button: "Take Over",
				Text: "Its ranks are ended and it starts again. Do this only if the other Mac is really gone."}}})
	}
	item.Items = append(item.Items, Item{ID: id + ":stop", Title: "Stop…", Disabled: j.Phase == api.JobEnding, Do: &Do{
		Call: &Call{Method: "job.stop", Params: api.JobStopParams{Job: j.Job}},
		Confirm: &Confirm{Title: "Stop “" + s.jobName(j) + "”?", Button: "Stop",
			Text: "It has 10 seconds to end. Its output is kept."}}})
	return item
}

// endedJob is the line of one's own job that ended a short while ago.
func (s *State) endedJob(j api.JobSummary) Item {
	item := s.jobItem(j, " "+since(s.Now, j.EndedAt.Time)+" ago")
	item.Items = append(item.Items, logsOf(j))
	if j.Phase != api.JobSucceeded {
		item.Items = append(item.Items, Item{ID: item.ID + ":retry", Title: "Run It Again", Do: call("job.retry", api.JobSelect{Job: j.Job})})
	}
	return item
}

// jobItem is the line of a job, with what is said of it below.
func (s *State) jobItem(j api.JobSummary, more string) Item {
	item := Item{ID: "job:" + string(j.Job), Title: s.jobName(j) + "   " + s.jobWords(j) + more, Tooltip: j.Message}
	if j.Message != "" {
		item.Items = append(item.Items, info(item.ID+":message", clean(j.Message)))
	}
	return item
}

func logsOf(j api.JobSummary) Item {
	return Item{ID: "job:" + string(j.Job) + ":logs", Title: "Logs", Do: &Do{Open: "dashboard:/job/" + string(j.Job)}}
}
