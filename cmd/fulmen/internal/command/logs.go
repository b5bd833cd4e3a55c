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
		Long: "The last lines of the daemon's log. Where the daemon does not run, or does not serve its log, they are read from\n" +
			"its file, whose path is said.",
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
	c.Flags().BoolVarP(&params.Follow, "follow", "f", false, "go on with what is added, until Ctrl-C")
	return c
}

func (r *run) logs(ctx context.Context, params api.DaemonLogsParams) error {
	folder := ""
	err := r.with(ctx, func(c *client.Client) error {
		err := r.servedLogs(ctx, c, params)
		if notBuilt(err) {
			folder = logFolder(ctx, c)
		}
		return err
	})
	if err == nil || !notBuilt(err) && !errors.Is(err, api.ReasonNoDaemon) {
		return err
	}
	if folder == "" {
		folder = usualLogFolder(r.Environment)
	}
	return r.logOfFile(filepath.Join(folder, logFile), err, params)
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
	return showNews(ctx, added,
		func(more api.DaemonLogged) bool { return more.Lagged },
		func(more api.DaemonLogged) error { return r.logLines(more.Lines) })
}

// logLines writes lines of the log.
func (r *run) logLines(lines []api.LogLine) error {
	for _, l := range lines {
		if r.json {
			if err := text.JSONLine(r.Out, l); err != nil {
				return err
			}
			continue
		}
		fields, err := json.Marshal(l.Fields)
		if err != nil {
			return err
		}
		if len(l.Fields) == 0 {
			fields = nil
		}
		_, err = fmt.Fprintf(r.Out, "%s %-5s %s: %s %s\n", l.At, text.Clean(string(l.Level)), text.Clean(l.Package), text.Clean(l.Text), text.Clean(string(fields)))
		if err != nil {
			return err
		}
	}
	return nil
}

// logOfFile shows the end of the log's file; why is why the daemon does not.
func (r *run) logOfFile(path string, why error, params api.DaemonLogsParams) error {
	reason := "The daemon that runs does not serve its log yet"
	if errors.Is(why, api.ReasonNoDaemon) {
		reason = "Fulmen is not running"
	}
	lines, err := tail(path, params.TailLines)
	if err != nil {
		e := api.Errorf(api.ReasonNoDaemon, path, "%s, and its file %s cannot be read: %v.", reason, path, cause(err))
		e.Data.Remedy = "If it belongs to root, repeat this with sudo."
		return e
	}
	fmt.Fprintf(r.Err, "%s; this is the end of %s\n", reason, text.Clean(path))
	if params.Follow {
		fmt.Fprintf(r.Err, "Follow it with: tail -F %q\n", path)
	}
	if params.Level != "" || params.Package != "" {
		fmt.Fprintln(r.Err, "All lines are shown: only the daemon can choose among them.")
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

// usualLogFolder is where a daemon has its log unless it was told otherwise.
func usualLogFolder(env client.Environment) string {
	home := env.Getenv(api.EnvHome)
	state := env.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(env.Home, ".local", "state")
	}
	switch {
	case home != "":
		return filepath.Join(home, "log")
	case env.UID == 0 && env.OS == "darwin":
		return api.MacLogFolder
	case env.UID == 0:
		return api.LinuxLogFolder
	case env.OS == "darwin":
		return filepath.Join(env.Home, "Library", "Logs", "Fulmen")
	}
	return filepath.Join(state, "fulmen", "log")
}
