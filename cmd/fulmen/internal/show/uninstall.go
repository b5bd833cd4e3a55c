package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Uninstall shows what goes and what stays when Fulmen is taken off the machine.
func (v View) Uninstall(w io.Writer, plan api.UninstallPlan, changes []api.NodeRDMAChange, members int, runs bool) error {
	out := &lines{to: w}
	goes, stays := text.NewTable(), text.NewTable()
	has := [2]bool{}
	for _, item := range plan.Items {
		if item.Stays == "" {
			has[0] = true
			goes.Row("  "+uninstallWord(item), item.Path, text.Bytes(item.Bytes))
		} else {
			has[1] = true
			stays.Row("  "+uninstallWord(item), item.Path, item.Stays)
		}
	}
	steps := []string{}
	for _, change := range changes {
		for _, step := range change.Steps {
			steps = append(steps, step.Text)
		}
	}
	if len(steps) > 0 {
		out.say("These network settings are put back first:")
		for _, s := range steps {
			out.say("  " + text.Clean(s))
		}
	}
	if members > 1 {
		out.say(fmt.Sprintf("This Mac leaves its cluster of %d, for good; the others keep theirs.", members))
	}
	switch {
	case runs:
		out.say("Jobs that run here are ended, and the daemon is stopped.")
	case len(plan.Items) > 0:
		out.say("The daemon does not run: this Mac cannot say good-bye to its cluster (remove it there with fulmen remove), and\nnetwork settings that were changed for RDMA stay as they are.")
	}
	if out.err != nil {
		return out.err
	}
	if !has[0] && !has[1] {
		_, err := fmt.Fprintln(w, "There is nothing of Fulmen here.")
		return err
	}
	for i, part := range []struct {
		heading string
		table   *text.Table
	}{{"These go:", goes}, {"These stay:", stays}} {
		if !has[i] {
			continue
		}
		if _, err := fmt.Fprintln(w, part.heading); err != nil {
			return err
		}
		if err := part.table.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// Uninstalled shows what has become of it.
func (v View) Uninstalled(w io.Writer, r api.UninstallResult) error {
	out := &lines{to: w}
	for _, f := range r.Failed {
		out.say("Not removed: " + text.Clean(f.Path+": "+f.Message))
	}
	for _, item := range r.Stayed {
		out.say("Kept: " + text.Clean(item.Path+". "+item.Stays))
	}
	if len(r.Failed) == 0 {
		out.say("Fulmen is gone from this machine.")
	}
	return out.err
}

// lines writes lines until one cannot be written.
type lines struct {
	to  io.Writer
	err error
}

func (l *lines) say(line string) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.to, line)
	}
}

// uninstallWord is what an item is.
func uninstallWord(item api.UninstallItem) string {
	switch item.Kind {
	case api.UninstallService:
		return "service"
	case api.UninstallRuntime:
		return "sockets"
	case api.UninstallLogs:
		return "log"
	case api.UninstallConfiguration:
		return "configuration"
	case api.UninstallState:
		return "state"
	case api.UninstallOutput:
		return "output of " + count(item.Jobs, "job")
	case api.UninstallUndo:
		return "changes for RDMA"
	case api.UninstallPrograms:
		return "program"
	}
	return item.Kind
}
