package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/output"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// logFile is the daemon's log in its folder.
const logFile = "fulmend.log"

func (r *run) logsCommand() *cobra.Command {
	var params api.DaemonLogsParams
	var level string
	c := &cobra.Command{
		Use: "logs", Short: "The daemon's log", Args: cobra.NoArgs,
		Long:    "The last lines of the daemon's log. Where the daemon does not run, they are read from its file, whose path is shown.",
		Example: "  fulmen logs\n  fulmen logs --lines 1000 --package server\n  fulmen logs --follow",
		RunE: func(c *cobra.Command, _ []string) error {
			params.Level = api.LogLevel(level)
			if level != "" && !params.Level.Valid() {
				return usage("there is no level %q; the levels are debug, info, warn, error", level)
			}
			return r.logs(c.Context(), params)
		},
	}
	c.Flags().IntVarP(&params.TailLines, "lines", "n", 200, "how many of the last lines")
	c.Flags().StringVar(&level, "level", "", "only this level and above: debug, info, warn, error")
	c.Flags().StringVar(&params.Package, "package", "", "only this part of the daemon")
	c.Flags().BoolVarP(&params.Follow, "follow", "f", false, "keep showing new lines, until Ctrl-C")
	return c
}

func (r *run) logs(ctx context.Context, params api.DaemonLogsParams) error {
	err := r.with(ctx, func(c *client.Client) error { return r.servedLogs(ctx, c, params) })
	if !errors.Is(err, api.ReasonNoDaemon) {
		return err
	}
	return r.logOfFile(filepath.Join(r.Environment.Places().Logs, logFile), params)
}

// servedLogs shows what the daemon says of its log.
func (r *run) servedLogs(ctx context.Context, c *client.Client, params api.DaemonLogsParams) error {
	if !params.Follow {
		lines, err := client.Call[api.DaemonLogsResult](ctx, c, "daemon.logs", params)
		if err != nil {
			return err
		}
		return r.logLines(lines.Lines)
	}
	lines, added, err := client.Stream[api.DaemonLogsResult, api.DaemonLogged](ctx, c, "daemon.logs", params)
	if err != nil {
		return err
	}
	if err := r.logLines(lines.Lines); err != nil {
		return err
	}
	return showUpdates(ctx, added, func(more api.DaemonLogged) error { return r.logLines(more.Lines) })
}

// logLines writes lines of the log.
func (r *run) logLines(lines []api.LogLine) error {
	return eachLine(r, lines, func(l api.LogLine) string {
		fields := ""
		if raw, err := json.Marshal(l.Fields); err == nil && len(l.Fields) > 0 {
			fields = string(raw)
		}
		return fmt.Sprintf("%s %-5s %s: %s %s", l.At, text.Clean(string(l.Level)), l.Package, l.Text, fields)
	})
}

// logOfFile shows the end of the log's file.
func (r *run) logOfFile(path string, params api.DaemonLogsParams) error {
	lines, err := tail(path, params.TailLines)
	if err != nil {
		return advised(api.Errorf(api.ReasonNoDaemon, path, "Fulmen is not running, and its file %s cannot be read: %v.", path, cause(err)),
			"If the file belongs to root, run this again with sudo.")
	}
	fmt.Fprintf(r.Err, "Fulmen is not running; this is the end of %s\n", text.Clean(path))
	if params.Follow {
		fmt.Fprintf(r.Err, "Follow it with: tail -F %q\n", path)
	}
	if params.Level != "" || params.Package != "" {
		fmt.Fprintln(r.Err, "All lines are shown: --level and --package work only while the daemon runs.")
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(r.Out, text.Clean(l)); err != nil {
			return err
		}
	}
	return nil
}

// cause is an error of the file system without the path, which is said already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// tail gives the last n lines of a file.
func tail(path string, n int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, api.MaxMessageBytes)
	for scanner.Scan() {
		if lines = append(lines, scanner.Text()); len(lines) > 2*n+1 {
			lines = append(lines[:0], lines[len(lines)-n:]...)
		}
	}
	return lines[max(0, len(lines)-n):], scanner.Err()
}

// logFolder is where the daemon says its log is; empty where it does not.
func logFolder(ctx context.Context, c *client.Client) string {
	listing, err := client.Call[api.DaemonConfigResult](ctx, c, "daemon.config", nil)
	if err != nil {
		return ""
	}
	var folder string
	if key, err := keyOf(listing, "paths.logs"); err == nil && json.Unmarshal(key.Value, &folder) == nil {
		return folder
	}
	return ""
}

func (r *run) jobLogs() *cobra.Command {
	var params api.JobLogsParams
	var tail string
	var noPrefix bool
	c := r.oneJob("logs", "What a job printed",
		"What the ranks of a job printed, standard output and standard error as the ranks wrote them. Of very long output\n"+
			"the beginning and the end are kept, and a line says how much is left out.",
		"  fulmen job logs j4k2\n  fulmen job logs j4k2 --rank 1 --tail 4KiB\n  fulmen job logs j4k2 --follow\n  fulmen job logs j4k2 --prepare --rank 1",
		func(ctx context.Context, c *client.Client, id api.JobID) error {
			params.Job = id
			if tail != "" {
				n, err := parseSize(tail)
				if err != nil {
					return usage("--tail must be an amount such as 4KiB, not %q", tail)
				}
				params.TailBytes = n
			}
			return r.jobOutput(ctx, c, params, noPrefix)
		})
	f := c.Flags()
	f.BoolVarP(&params.Follow, "follow", "f", false, "keep showing what is printed, over all attempts, until the job has ended or Ctrl-C")
	f.IntSliceVar(&params.Ranks, "rank", nil, "only these ranks")
	f.IntVar(&params.Attempt, "attempt", 0, "of this attempt (default: the last one)")
	f.BoolVar(&params.Prepare, "prepare", false, "what fulmen run --prepare printed on each node, in place of what the ranks printed")
	f.StringVar(&tail, "tail", "", "only this much from the end of each stream, such as 4KiB")
	f.BoolVar(&noPrefix, "no-prefix", false, "do not write the rank in front of each line")
	return c
}

// jobOutput shows what ranks printed.
func (r *run) jobOutput(ctx context.Context, c *client.Client, params api.JobLogsParams, noPrefix bool) error {
	job, err := client.Call[api.JobGetResult](ctx, c, "job.get", api.JobSelect{Job: params.Job})
	if err != nil {
		return err
	}
	var s jobState
	s.apply([]api.Document{job.Job})
	alone := len(params.Ranks) == 1 || s.spec().Placement.Ranks == 1
	lines := output.New(output.Options{
		Out: r.Out, Err: r.Err, Prefix: !alone && !noPrefix, Through: alone, Together: r.Screen && r.Terminal,
		OutTerminal: r.Screen, ErrTerminal: r.Terminal,
	})
	_, pieces, err := client.Stream[api.JobLogsResult, api.JobOutput](ctx, c, "job.logs", params)
	if err != nil {
		return err
	}
	var rest output.Rest
	for p, err := range pieces {
		rest.Take(p.OutputPiece)
		switch {
		case ctx.Err() != nil:
			return lines.Close() // the end that was asked for
		case err != nil:
			return errors.Join(err, lines.Close())
		}
		if r.json {
			err = text.JSONLine(r.Out, jobEvent{Output: &p.OutputPiece})
		} else {
			err = lines.Write(p.OutputPiece)
		}
		if err != nil {
			return err
		}
		if p.Terminal {
			break
		}
	}
	if missing := rest.Missing(nil); len(missing) > 0 {
		of := attachment{state: s, names: nodeNames(ctx, c)}
		return errors.Join(lines.Close(), notWhole(params.Job, of.ranksOf(missing), missing))
	}
	return lines.Close()
}
