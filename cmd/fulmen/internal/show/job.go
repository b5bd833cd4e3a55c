package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Job writes all about one job: what it is, its phases with their times, its
// attempts, and the ranks of the current one.
func (v View) Job(w io.Writer, j api.Job, ranks []api.Rank, called map[api.NodeID]string) error {
	var spec api.JobSpec
	_ = json.Unmarshal(j.Spec, &spec) // the daemon has checked it; what it lacks is left out
	n := names(called)
	table := text.NewTable()
	line := func(key, value string) {
		if value != "" {
			table.Row(key, value)
		}
	}
	line("job", join("  ", spec.Job.String(), jobName(spec)))
	if j.Principal.Valid() {
		line("of", person(j.Principal, n))
	}
	line("phase", v.phaseLine(j))
	line("tries", tries(j, spec))
	why := explained(j.Reason, j.Message)
	if j.Phase == api.JobFailed {
		why = strings.TrimSuffix(Outcome(j, ranks, called).Message, ".")
	}
	line("because", why)
	line("waits for", j.WaitingFor)
	if j.ExitCode != nil {
		line("exit", strconv.Itoa(*j.ExitCode))
	}
	line("command", commandLine(spec.Program))
	line("in", spec.Program.Directory)
	line("python", join(", ", spec.Program.Interpreter, spec.Program.Environment))
	line("home", n.of(j.Home)+epoch(j.Epoch))
	line("labels", pairs(spec.Labels))
	line("ports", ports(spec.Publish, ranks))
	if err := table.Write(w); err != nil {
		return err
	}
	if a := current(j); a != nil && a.Plan != nil {
		fmt.Fprintln(w)
		if err := v.planned(w, *a.Plan, n); err != nil {
			return err
		}
	}
	for _, part := range []func(io.Writer) error{
		func(w io.Writer) error { return v.rankTable(w, j, ranks, n) },
		func(w io.Writer) error { return v.attempts(w, j) },
		func(w io.Writer) error { return v.phases(w, j) },
	} {
		if err := part(w); err != nil {
			return err
		}
	}
	return nil
}

// tries says how many attempts count already, of those that may; empty for a job of
// which none has failed.
func tries(j api.Job, spec api.JobSpec) string {
	counted, retried := "", ""
	if j.CountedAttempts > 0 {
		counted = fmt.Sprintf("%d of %d that count", j.CountedAttempts, cmp.Or(spec.MaxAttempts, api.DefaultCountedAttempts))
	}
	if j.Retried > 0 && spec.Retries > 0 {
		retried = fmt.Sprintf("%d of %d after all had joined", min(j.Retried, spec.Retries), spec.Retries)
	}
	return join(", ", counted, retried)
}

// jobName is what lists show of a job.
func jobName(spec api.JobSpec) string {
	return cmp.Or(spec.Name, spec.Program.ScriptName())
}

// phaseLine says where a job is, and for how long.
func (v View) phaseLine(j api.Job) string {
	out := string(j.Phase)
	switch since := j.PhaseSince.Time; {
	case since.IsZero():
	case j.Phase.Ended():
		out += " " + text.Ago(v.Now, since)
	default:
		out += " for " + text.Duration(max(0, v.Now.Sub(since)).Truncate(time.Millisecond))
	}
	if j.Attempt > 1 {
		out += fmt.Sprintf(", attempt %d", j.Attempt)
	}
	return out
}

// explained is a reason with its sentence, without the full stop.
func explained(reason api.Reason, message string) string {
	if message != "" {
		return strings.TrimSuffix(message, ".")
	}
	if reason == "" {
		return ""
	}
	return because(reason)
}

func epoch(n uint64) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(", home number %d", n)
}

// commandLine is a program as somebody would type it.
func commandLine(p api.Program) string {
	var words []string
	if p.Builtin != "" {
		words = append(words, string(p.Builtin))
	}
	for _, w := range p.Command {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?;&|<>()#~!{}[]") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func pairs(all map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, k+"="+all[k])
	}
	return strings.Join(out, " ")
}

// ports are the published ports, and whether the program listens on each.
func ports(all []api.Publish, ranks []api.Rank) string {
	var out []string
	for _, p := range all {
		word := strconv.Itoa(p.Port)
		if p.LAN {
			word = "lan:" + word
		}
		open := slices.ContainsFunc(ranks, func(r api.Rank) bool { return r.Rank == 0 && slices.Contains(r.Ports, p.Port) })
		out = append(out, word+choose(open, " (open)", " (nobody listens)"))
	}
	return strings.Join(out, ", ")
}

// current is the attempt that a job is at.
func current(j api.Job) *api.Attempt {
	for i := range j.Attempts {
		if j.Attempts[i].Attempt == j.Attempt {
			return &j.Attempts[i]
		}
	}
	return nil
}

// rankTable lists the ranks of the current attempt.
func (v View) rankTable(w io.Writer, j api.Job, ranks []api.Rank, n names) error {
	if len(ranks) == 0 {
		return nil
	}
	table := text.NewTable("RANK", "NODE", "PHASE", "PID", "EXIT", "CPU", "MEMORY", "PRINTED")
	for _, r := range ranks {
		pid, cpu, memory, printed := none, none, none, none
		if r.PID != 0 {
			pid = strconv.Itoa(r.PID)
		}
		if u := r.Usage; u != nil {
			cpu = text.Duration(time.Duration((u.UserS + u.SystemS) * float64(time.Second)))
			memory = text.Bytes(u.MaxResidentBytes)
		}
		if o := r.Output; o != nil {
			printed = text.Bytes(o.OutBytes + o.ErrBytes)
			if o.DroppedBytes > 0 {
				printed += ", " + text.Bytes(o.DroppedBytes) + " not kept"
			}
		}
		phase := string(r.Phase)
		if r.Phase == api.RankPreparing && !r.PreparedAt.IsZero() {
			phase = "prepared, waits for the others"
		}
		if r.Phase == api.RankHandshake && r.Handshake != nil {
			phase += " " + string(r.Handshake.State)
		}
		table.Row(strconv.Itoa(r.Rank), nodeOfRank(j, r.Rank, n), join(": ", phase, explained(r.Reason, r.Message)), pid, exitWord(r.Exit), cpu, memory, printed)
	}
	fmt.Fprintln(w)
	return table.Write(w)
}

// nodeOfRank is where a rank of the current attempt runs.
func nodeOfRank(j api.Job, rank int, n names) string {
	if a := current(j); a != nil && a.Plan != nil {
		for _, p := range a.Plan.Ranks {
			if p.Rank == rank {
				return n.of(p.Node)
			}
		}
	}
	return none
}

// attempts lists what came of each try.
func (v View) attempts(w io.Writer, j api.Job) error {
	if len(j.Attempts) == 0 {
		return nil
	}
	table := text.NewTable("ATTEMPT", "STARTED", "TOOK", "EXIT", "WHY IT ENDED")
	for i := 0; i < len(j.Attempts); i++ {
		first := j.Attempts[i]
		for i+1 < len(j.Attempts) && failedAlike(first, j.Attempts[i+1]) {
			i++
		}
		a, times := j.Attempts[i], j.Attempts[i].Attempt-first.Attempt+1
		started, took, exit := none, none, none
		if !a.StartedAt.IsZero() {
			started = clock(a.StartedAt)
		}
		if !a.StartedAt.IsZero() && !a.EndedAt.IsZero() {
			took = text.Duration(a.EndedAt.Sub(a.StartedAt.Time))
		}
		if a.ExitCode != nil {
			exit = strconv.Itoa(*a.ExitCode)
		}
		why := explained(a.Reason, a.Message)
		if a.FirstFailed != nil && why != "" && !namesRank(why, *a.FirstFailed) {
			why = fmt.Sprintf("rank %d: %s", *a.FirstFailed, why)
		}
		if a.Uncounted {
			why = join(" ", why, "(not counted)")
		}
		number := strconv.Itoa(a.Attempt)
		if times > 1 {
			number = strconv.Itoa(first.Attempt) + "-" + number
			why = join(", ", cmp.Or(why, none), strconv.Itoa(times)+" times")
		}
		table.Row(number, started, took, exit, cmp.Or(why, none))
	}
	fmt.Fprintln(w)
	return table.Write(w)
}

// failedAlike reports whether an attempt says of its end what the one before says: the
// last of several stands for all.
func failedAlike(a, b api.Attempt) bool {
	number := func(n *int) int {
		if n == nil {
			return -1
		}
		return *n
	}
	return a.Reason != "" && a.Reason == b.Reason && a.Message == b.Message && a.Uncounted == b.Uncounted &&
		number(a.ExitCode) == number(b.ExitCode) && number(a.FirstFailed) == number(b.FirstFailed)
}

// phases lists where the job was, when and how long.
func (v View) phases(w io.Writer, j api.Job) error {
	if len(j.Phases) == 0 {
		return nil
	}
	table := text.NewTable("PHASE", "ATTEMPT", "AT", "TOOK")
	for i, p := range j.Phases {
		took := none
		switch {
		case i+1 < len(j.Phases):
			took = text.Duration(j.Phases[i+1].At.Sub(p.At.Time))
		case !p.Phase.Ended():
			took = text.Duration(max(0, v.Now.Sub(p.At.Time)).Truncate(time.Millisecond)) + " so far"
		}
		attempt := none
		if p.Attempt > 0 {
			attempt = strconv.Itoa(p.Attempt)
		}
		table.Row(string(p.Phase), attempt, clock(p.At), took)
	}
	fmt.Fprintln(w)
	return table.Write(w)
}

// clock is a time of the day, to the millisecond.
func clock(t api.Time) string { return t.UTC().Format("15:04:05.000") }

// exitWord is how a process ended: 0, 42, SIGKILL.
func exitWord(e *api.Exit) string {
	switch {
	case e == nil:
		return none
	case e.OutOfMemory:
		return "out of memory"
	case e.Signal != 0:
		return signalName(e.Signal)
	case e.Code != nil:
		return strconv.Itoa(*e.Code)
	}
	return none
}

// Jobs writes the table of jobs, the newest first.
func (v View) Jobs(w io.Writer, list []api.JobSummary, all bool, called map[api.NodeID]string) error {
	if len(list) == 0 {
		words := "No job is there. Ended ones: fulmen jobs --all"
		if all {
			words = "No job is there. Run one with: fulmen run -- COMMAND"
		}
		_, err := fmt.Fprintln(w, words)
		return err
	}
	n := names(called)
	heading := []string{"JOB", "NAME", "OF", "STATE", "RANKS", "NODES", "SUBMITTED"}
	if v.Wide {
		heading = append(heading, "BACKEND", "MEMORY", "ATTEMPT")
	}
	table := text.NewTable(heading...)
	for _, j := range list {
		ranks := none
		if j.Ranks > 0 {
			ranks = strconv.Itoa(j.Ranks)
		}
		row := []string{j.Job.String(), j.Name, person(j.Principal, n) + choose(j.Mine, " *", ""), jobPhase(j), ranks, orNone(n.list(j.Nodes)), text.Ago(v.Now, j.SubmittedAt.Time)}
		if v.Wide {
			memory := none
			if j.MemoryBytes > 0 {
				memory = text.Bytes(j.MemoryBytes)
			}
			row = append(row, orNone(string(j.Backend)), memory, strconv.Itoa(j.Attempt))
		}
		table.Row(row...)
	}
	return table.Write(w)
}

// list names several nodes.
func (n names) list(nodes []api.NodeID) string {
	var out []string
	for _, id := range nodes {
		out = append(out, n.of(id))
	}
	return strings.Join(out, ", ")
}

// jobPhase is where a job is, in few words.
func jobPhase(j api.JobSummary) string {
	out := string(j.Phase)
	if j.Phase == api.JobHandshake && j.Ranks > 0 {
		out = fmt.Sprintf("%s %d of %d", out, j.Joined, j.Ranks)
	}
	if j.ExitCode != nil && *j.ExitCode != 0 {
		out += fmt.Sprintf(" (%d)", *j.ExitCode)
	}
	if j.Phase == api.JobSucceeded || j.Phase == api.JobStopped && j.Reason == api.ReasonStoppedByPerson {
		return out
	}
	return join(": ", out, explained(j.Reason, j.Message))
}
