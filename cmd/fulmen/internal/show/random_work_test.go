package show

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// randomWork are jobs, models and services, as a daemon lists them.
type randomWork struct {
	jobs      []api.JobSummary
	whole     map[api.JobID]wholeJob
	instances []api.Instance
	copies    []api.ModelCopying
	models    api.ModelClusterResult
}

// work gives the cluster something to do.
func (d *drawnCluster) work(r *rand.Rand) {
	often := func(percent int) bool { return r.IntN(100) < percent }
	ago := func(minutes int) api.Time {
		return api.TimeOf(d.now.Add(-time.Duration(r.IntN(60*minutes)) * time.Second))
	}
	some := func() (nodes []api.NodeID) {
		for _, i := range r.Perm(len(d.Nodes))[:1+r.IntN(len(d.Nodes))] {
			nodes = append(nodes, d.Nodes[i].Node)
		}
		return nodes
	}
	d.whole = map[api.JobID]wholeJob{}
	phases := []api.JobPhase{api.JobQueued, api.JobPlacing, api.JobStarting, api.JobHandshake, api.JobRunning, api.JobRunning, api.JobRunning, api.JobEnding, api.JobBackoff,
		api.JobHomeLost, api.JobSucceeded, api.JobFailed, api.JobStopped}
	reasons := map[api.JobPhase][]api.Reason{api.JobQueued: {"", api.ReasonWaitingForJob}, api.JobRunning: {"", api.ReasonStalled, api.ReasonNotReady}, api.JobBackoff: {api.ReasonRankFailed, api.ReasonPreempted},
		api.JobFailed: {api.ReasonRankFailed}, api.JobStopped: {api.ReasonStoppedByPerson, api.ReasonNodeUnreachable}}
	for i := range r.IntN(5) {
		j := api.JobSummary{Job: api.JobID(fmt.Sprintf("j%08d", i)), Name: fmt.Sprintf("train-%d", i), Mine: often(60), Phase: phases[r.IntN(len(phases))], Attempt: 1 + r.IntN(3), SubmittedAt: ago(300)}
		j.Principal = api.Principal{User: either(j.Mine, "ada", "bob"), Node: d.Nodes[0].Node}
		if all := reasons[j.Phase]; all != nil {
			j.Reason = all[r.IntN(len(all))]
		}
		if j.Mine && j.Reason != "" {
			j.Message = fmt.Sprintf("Because of %s, number %d.", j.Reason, r.IntN(9))
		}
		if !slices.Contains([]api.JobPhase{api.JobQueued, api.JobPlacing, api.JobBackoff}, j.Phase) {
			j.Nodes, j.Backend = some(), []api.Backend{"jaccl", "ring"}[r.IntN(2)]
			j.Ranks, j.MemoryBytes = len(j.Nodes), int64(r.IntN(300))<<29
		}
		switch {
		case j.Phase == api.JobHandshake:
			j.Joined = r.IntN(j.Ranks)
		case j.Phase == api.JobPlacing && often(50):
			j.LinePosition, j.Priority = 1+r.IntN(4), r.IntN(2)*5
		case j.Phase.Ended():
			j.EndedAt = api.TimeOf(d.now.Add(-time.Duration(r.Int64N(int64(d.now.Sub(j.SubmittedAt.Time)) + 1))))
			j.ExitCode = new(either(j.Phase == api.JobSucceeded, 0, 1+r.IntN(3)))
		}
		if j.Mine && often(50) {
			j.Serves = "mlx/Qwen3"
			if j.Phase == api.JobRunning && j.Reason == "" && often(80) {
				j.ReadyAt = ago(1)
			}
		}
		d.jobs = append(d.jobs, j)
		if j.Mine && j.Nodes != nil {
			d.whole[j.Job] = d.wholeOf(j, r)
		}
	}
	for i := range r.IntN(3) {
		one := api.Instance{Name: fmt.Sprintf("chat-%d", i), Model: api.ModelSelect{Model: "mlx/Qwen3"}, Engine: "mlx-lm", Sharding: "tensor"}
		job := func(k int) api.InstanceJob {
			j := api.InstanceJob{URL: fmt.Sprintf("http://127.0.0.1:%d/v1", 5000+10*i+k), Job: api.JobID(fmt.Sprintf("j1%07d", 10*i+k)), Phase: phases[r.IntN(len(phases)-3)], Attempt: 1 + r.IntN(3)}
			if j.Phase == api.JobRunning {
				j.Nodes = some()
				if often(60) {
					j.ReadyAt = ago(90)
				} else {
					j.Message = "It loads the model."
				}
			} else if often(50) {
				j.Message = "It waits for memory."
			}
			if j.Attempt > 1 {
				j.LastEnd = &api.Cause{Reason: api.ReasonRankFailed, Message: "Rank 1 failed."}
			}
			return j
		}
		one.InstanceJob = job(0)
		if often(40) {
			one.Replicas = []api.InstanceReplica{{Replica: 1, InstanceJob: one.InstanceJob}, {Replica: 2, InstanceJob: job(1)}}
		}
		switch isReady := !one.ReadyAt.IsZero(); {
		case isReady && often(60):
			one.TokensPerS = new(float64(r.IntN(1000)) / 8)
		case isReady:
			one.TokensMessage = "The engine does not count them."
		}
		d.instances = append(d.instances, one)
	}
	for i := range r.IntN(3) {
		c := api.ModelCopying{ModelSelect: api.ModelSelect{Model: fmt.Sprintf("mlx/new-%d", i)}}
		if often(70) {
			c.From = some()[0]
		}
		if often(80) {
			c.Progress = api.ModelProgress{DoneBytes: r.Int64N(1000) << 20, TotalBytes: 1000 << 20}
		}
		d.copies = append(d.copies, c)
	}
	for i, n := range d.Nodes {
		answer := api.ModelNodeAnswer{Node: n.Node}
		if !d.macs[i].isHere() || i > 0 && often(10) {
			answer.Error = api.NewError(api.ReasonUnreachable, string(n.Node))
		}
		d.models.Nodes = append(d.models.Nodes, answer)
	}
	d.models.Models = []api.ModelOnNodes{}
	for i := range r.IntN(4) {
		m := api.ModelOnNodes{Model: api.Model{Model: fmt.Sprintf("mlx/model-%d", i), Source: "huggingface", SizeBytes: int64(r.IntN(9000)) << 23}, On: []api.ModelOnNode{}}
		if often(70) {
			m.Model.Revision = "0123456789abcdef"
		}
		if often(80) {
			m.Model.WeightsBytes, m.Model.ModelType = new(int64(r.IntN(9000))<<23), "qwen3"
		}
		for _, n := range d.models.Nodes {
			if n.Error == nil && often(60) {
				on := api.ModelOnNode{Node: n.Node}
				switch r.IntN(3) {
				case 0:
					on.Complete = new(true)
				case 1:
					on.Complete, on.MissingCount = new(false), 1+r.IntN(3)
				}
				m.On = append(m.On, on)
			}
		}
		d.models.Models = append(d.models.Models, m)
	}
}

// phaseWords are those of the page and of the menu, and the page's colour.
var phaseWords = map[api.JobPhase][3]string{
	api.JobQueued: {"Queued", "queued", "plain"}, api.JobPlacing: {"Looking for Macs", "", "plain"}, api.JobStarting: {"Starting", "starting on %s", "plain"},
	api.JobHandshake: {"Joining", "%d of %d joined", "plain"}, api.JobRunning: {"Running", "%s, %s", "accent"}, api.JobEnding: {"Ending", "ending", "plain"},
	api.JobBackoff: {"Waits for the next attempt", "attempt %d failed, trying again", "warn"}, api.JobHomeLost: {"Its Mac is lost", "the Mac that manages it is gone", "bad"},
	api.JobSucceeded: {"Succeeded", "done", "good"}, api.JobFailed: {"Failed", "failed", "bad"}, api.JobStopped: {"Stopped", "stopped", "plain"},
}

// names are those of Macs.
func (d *drawnCluster) names(nodes []api.NodeID) string {
	var all []string
	for _, id := range nodes {
		all = append(all, d.named(string(id)))
	}
	return cmp.Or(strings.Join(all, ", "), "-")
}

func dashes(text string) string { return either(text == "-", "–", text) }

// seconds is how long ago something was.
func (d *drawnCluster) seconds(at api.Time) int { return int(d.now.Sub(at.Time) / time.Second) }

// pageAge is the same in the one unit of the page.
func pageAge(s int) string {
	switch {
	case s < 10:
		return "now"
	case s < 60:
		return "under 1 min"
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%d h", s/3600)
	}
	return fmt.Sprintf("%d d", s/86400)
}

func cliAgo(s int) string { return either(s < 1, "just now", span(s)+" ago") }

// length is a time in the two units of the page.
func length(s int) string {
	units, factors := []string{"s", "min", "h", "d"}, []int{1, 60, 3600, 86400}
	i := 0
	for i < 3 && s >= factors[i+1]*either(i == 2, 2, 1) {
		i++
	}
	text := fmt.Sprintf("%d %s", s/factors[i], units[i])
	if i > 0 {
		if rest := s % factors[i] / factors[i-1]; rest > 0 {
			text += fmt.Sprintf(" %d %s", rest, units[i-1])
		}
	}
	return text
}

// wantRunning is what is to be in the page's list of what runs.
func (d *drawnCluster) wantRunning(s screenTexts) {
	all := slices.DeleteFunc(slices.Clone(d.jobs), func(j api.JobSummary) bool { return j.Phase.Ended() })
	slices.SortStableFunc(all, func(a, b api.JobSummary) int {
		return cmp.Or(cmp.Compare(either(b.Mine, 1, 0), either(a.Mine, 1, 0)), a.SubmittedAt.Compare(b.SubmittedAt.Time))
	})
	for _, j := range all[:min(len(all), 4)] {
		badge, tone := phaseWords[j.Phase][0], either(j.Phase == api.JobRunning, "accent", "plain")
		switch {
		case j.Reason == api.ReasonStalled:
			badge, tone = "Stalled", "bad"
		case j.Serves != "" && !j.ReadyAt.IsZero():
			badge = "Served"
		}
		text := fmt.Sprintf("%s [badge %s]%s ", j.Name, tone, badge) + either(j.Serves != "", j.Serves+" · ", "") + length(d.seconds(j.SubmittedAt))
		if len(j.Nodes) > 0 {
			text += " · on " + d.names(j.Nodes)
		}
		s.add(text+either(j.Mine, "", " · of "+j.Principal.User+"@m0"), "page cluster /%s", j.Job)
	}
}

// wantJobs is what is to be screenTexts of the jobs.
func (d *drawnCluster) wantJobs(s screenTexts) {
	for _, j := range d.jobs {
		words, row := phaseWords[j.Phase], string(j.Job)
		macs := either(len(j.Nodes) == 1, "1 Mac", fmt.Sprintf("%d Macs", len(j.Nodes)))
		phase, badge, inMenu, tone := string(j.Phase), words[0], words[1], words[2]
		isRunning, since := !j.Phase.Ended(), minutes(d.seconds(j.SubmittedAt))
		line := ""
		switch j.Phase {
		case api.JobQueued:
			inMenu = either(j.Reason == api.ReasonWaitingForJob, "runs after another job", inMenu)
		case api.JobPlacing:
			inMenu = "waiting for Macs, " + since
			if j.LinePosition > 0 {
				phase += fmt.Sprintf(" (%d in line)", j.LinePosition)
				inMenu = fmt.Sprintf("number %d in line, ", j.LinePosition) + inMenu
				line = fmt.Sprintf(" / number %d in line", j.LinePosition) + either(j.Priority > 0, fmt.Sprintf(", priority %d", j.Priority), "")
			}
		case api.JobStarting:
			inMenu = "starting on " + macs
		case api.JobHandshake:
			count := fmt.Sprintf(" %d of %d", j.Joined, j.Ranks)
			phase, badge, inMenu = phase+count, badge+count, count[1:]+" joined"
		case api.JobRunning:
			inMenu = either(j.Serves != "", "serves "+j.Serves+", ", "") + macs + ", " + since
			switch j.Reason {
			case api.ReasonStalled:
				badge, tone, inMenu = "Stalled", "warn", "stalled, "+macs
			case api.ReasonNotReady:
				badge, tone, inMenu = "Not ready", "warn", "not ready, "+macs
			}
		case api.JobBackoff:
			inMenu = either(j.Reason == api.ReasonPreempted, "made room for another job, comes back", fmt.Sprintf("attempt %d failed, trying again", j.Attempt))
		}
		why := strings.TrimSuffix(j.Message, ".")
		if info, is := api.LookupReason(j.Reason); why == "" && is {
			why = strings.TrimSuffix(info.Text, ".")
		}
		if j.ExitCode != nil && *j.ExitCode != 0 {
			phase += fmt.Sprintf(" (%d)", *j.ExitCode)
		}
		if j.Reason != "" && j.Reason != api.ReasonStoppedByPerson {
			phase += ": " + why
		}
		memory := int(j.MemoryBytes >> 20)
		for _, screen := range []string{"jobs", "top", "status"} {
			if screen != "jobs" && !isRunning {
				continue
			}
			s.add(j.Name, "%s %s NAME", screen, row)
			s.add(j.Principal.User+"@m0"+either(j.Mine, " *", ""), "%s %s OF", screen, row)
			s.add(phase, "%s %s STATE", screen, row)
			s.add(onTerminal[tone], "%s %s STATE colour", screen, row)
			s.add(either(j.Ranks > 0, fmt.Sprint(j.Ranks), "-"), "%s %s RANKS", screen, row)
			s.add(d.names(j.Nodes), "%s %s NODES", screen, row)
			s.add(cliAgo(d.seconds(j.SubmittedAt)), "%s %s SUBMITTED", screen, row)
		}
		s.add(fmt.Sprintf("[badge %s]%s%s%s%s | %s | %s | %s | %s | %s", tone, badge, line, either(j.Message != "", " / "+j.Message, ""), either(j.Attempt > 1, fmt.Sprintf(" / attempt %d", j.Attempt), ""),
			dashes(d.names(j.Nodes)), either(j.Mine, "you", j.Principal.User+"@m0"), cmp.Or(string(j.Backend), "–"), either(memory > 0, pageBytes(memory), "–"),
			pageAge(d.seconds(either(isRunning, j.SubmittedAt, j.EndedAt)))), "page jobs /%s / %s", j.Name, row)
		if _, is := d.whole[j.Job]; !is {
			s.add(fmt.Sprintf("Jobs /\n%s\n[badge %s]%s\nWaiting for the job…", j.Name, tone, badge), "job %s", row)
		}
		if !j.Mine && isRunning {
			s.add(j.Name+"   "+inMenu+" for "+j.Principal.User, "menu job:%s", row)
		}
		if !j.Mine || !isRunning && d.seconds(j.EndedAt) >= 600 {
			continue
		}
		s.add(j.Name+"   "+inMenu+either(isRunning, "", " "+minutes(d.seconds(j.EndedAt))+" ago"), "menu job:%s", row)
		s.add(j.Message, "menu job:%s:message", row)
		for rank, id := range j.Nodes {
			s.add(either(isRunning, fmt.Sprintf("Rank %d on %s", rank, d.named(string(id))), ""), "menu job:%s:rank:%d", row, rank)
		}
	}
}

// pageBytes is a size as the page has it.
func pageBytes(mb int) string {
	number, unit, _ := strings.Cut(binary(mb), " ")
	if len(number) == 4 && number[1] == '.' {
		number = trimZeros(number)
	}
	return number + " " + strings.Replace(unit, "iB", "B", 1)
}

// wantCopies is what is to be said of models that are copied to the page's Mac.
func (d *drawnCluster) wantCopies(s screenTexts) {
	for _, c := range d.copies {
		from := either(c.From == "", "Hugging Face", d.named(string(c.From)))
		done := percents(float64(c.Progress.DoneBytes) / float64(1000<<20))
		s.add(c.Model+"   copying from "+from+either(c.Progress.TotalBytes > 0, ", "+done, ""), "menu copy:%s:show", c.Model)
		s.add("Copying from "+from+either(c.Progress.TotalBytes > 0, ": "+done, ""), "page models copying %s", c.Model)
	}
}

// wantInstances is what is to be screenTexts of what is served.
func (d *drawnCluster) wantInstances(s screenTexts) {
	state := func(j api.InstanceJob) string {
		switch {
		case !j.ReadyAt.IsZero():
			return "ready on " + d.names(j.Nodes)
		case j.Phase == api.JobRunning:
			return "not ready: It loads the model."
		}
		return string(j.Phase) + either(j.Message != "", ": It waits for memory", "")
	}
	for _, one := range d.instances {
		tone, badge, nodes, addresses := phaseWords[one.Phase][2], phaseWords[one.Phase][0], one.Nodes, one.URL
		switch {
		case !one.ReadyAt.IsZero():
			tone, badge = "good", "Ready"
		case one.Phase == api.JobRunning:
			tone, badge = "warn", "Not ready"
		}
		cli, further := state(one.InstanceJob), 1
		if one.TokensMessage != "" {
			s.add("tokens a second are unknown: "+one.TokensMessage, "serve %s +1", one.Name)
			further = 2
		}
		if len(one.Replicas) > 0 {
			ready := 0
			nodes, addresses = nil, ""
			for _, r := range one.Replicas {
				ready += either(r.ReadyAt.IsZero(), 0, 1)
				s.add(fmt.Sprintf("%d: %s, attempt %d: %s", r.Replica, r.URL, r.Attempt, state(r.InstanceJob)), "serve %s +%d", one.Name, further)
				further++
				for _, id := range r.Nodes {
					if !slices.Contains(nodes, id) {
						nodes = append(nodes, id)
					}
				}
				addresses += r.URL + " "
			}
			cli = fmt.Sprintf("%d of 2 ready", ready)
			badge, tone = cli, either(ready == 2, "good", "warn")
		}
		tokens, words := "–", ""
		switch {
		case one.TokensPerS != nil:
			tokens = fmt.Sprintf("%.1f", float64(halfUp(*one.TokensPerS*10))/10)
			words = " / " + tokens + " tokens/s"
		case one.TokensMessage != "":
			tokens, words = "unknown", " / Tokens/s unknown: "+one.TokensMessage
		}
		words += either(one.Message != "", " / "+one.Message, "")
		if one.Attempt > 1 {
			words += fmt.Sprintf(" / attempt %d; the one before ended: Rank 1 failed.", one.Attempt)
			s.add("the attempt before ended: Rank 1 failed.", "serve %s +%d", one.Name, further)
		}
		s.add("mlx/Qwen3", "serve %s MODEL", one.Name)
		s.add("mlx-lm", "serve %s ENGINE", one.Name)
		s.add(one.URL, "serve %s ADDRESS", one.Name)
		s.add(fmt.Sprint(one.Attempt), "serve %s ATTEMPT", one.Name)
		s.add(tokens, "serve %s TOKENS/S", one.Name)
		s.add(cli, "serve %s STATE", one.Name)
		s.add(either(len(one.Replicas) > 0, "", onTerminal[tone]), "serve %s STATE colour", one.Name)
		s.add(fmt.Sprintf("mlx/Qwen3 / mlx-lm, tensor | [badge %s]%s%s | %s | %s", tone, badge, words, dashes(d.names(nodes)), strings.TrimSpace(addresses)), "page instances /%s", one.Name)
	}
}

// wantModels is what is to be screenTexts of the models.
func (d *drawnCluster) wantModels(s screenTexts) {
	for _, n := range d.models.Nodes {
		if n.Error != nil {
			why := "The node does not answer on any path. Check that it is on, awake and connected."
			s.add(why, "models not of %s", d.named(string(n.Node)))
			s.add(why, "page models not of %s", d.named(string(n.Node)))
		}
	}
	for _, m := range d.models.Models {
		size, needs, row := int(m.Model.SizeBytes>>20), "unknown", m.Model.Model
		onPage := []string{pageBytes(size), "–"}
		if m.Model.WeightsBytes != nil {
			needs = binary(int(*m.Model.WeightsBytes >> 20))
			onPage[1] = pageBytes(int(*m.Model.WeightsBytes >> 20))
		}
		s.add(binary(size), "models %s SIZE", row)
		s.add(needs, "models %s NEEDS", row)
		s.add(cmp.Or(m.Model.ModelType, "unknown"), "models %s TYPE", row)
		s.add("none stated", "models %s QUANTIZATION", row)
		for _, n := range d.models.Nodes {
			if n.Error != nil {
				continue
			}
			has := "-"
			for _, on := range m.On {
				switch {
				case on.Node != n.Node:
				case on.Complete == nil:
					has = "unknown"
				case *on.Complete:
					has = "complete"
				default:
					has = fmt.Sprintf("%d file%s missing", on.MissingCount, either(on.MissingCount == 1, "", "s"))
				}
			}
			s.add(has, "models %s %s", row, d.named(string(n.Node)))
			onPage = append(onPage, dashes(has))
		}
		s.add(strings.Join(onPage, " | "), "page models /%s%s", row, either(m.Model.Revision != "", " / 01234567", ""))
	}
}
