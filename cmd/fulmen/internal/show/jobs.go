package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

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
