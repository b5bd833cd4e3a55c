// Package carry copies between two Macs. On each one a process of the daemon's own program
// runs as an account and touches the files; the daemons start the two and carry their bytes
// over a connection. What the processes send each other is in package wire.
package carry

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"fulmen/daemon/internal/rank/files/wire"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/native"
)

// Carrier starts processes and carries their bytes.
type Carrier struct {
	// Self is the path of the daemon's own program, which every account can execute.
	Self string
	// Clock is what silence is measured on.
	Clock native.Clock
	// Silence is how long a copy may rest without a byte.
	Silence time.Duration
	// Log takes what a process complains about that broke.
	Log *slog.Logger
}

// DefaultSilence is how long copies usually may rest.
const DefaultSilence = time.Minute

// Process reads or writes files as an account.
type Process struct {
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        io.ReadCloser
	from       *os.File // of its reports
	reports    *bufio.Scanner
	complaints look.Head
}

// Start starts a process and gives it its task. It is killed with all it started
// when ctx ends.
func (c Carrier) Start(ctx context.Context, who account.Account, command string, kind wire.Kind, task any) (*Process, error) {
	cmd, err := who.Command(ctx, c.Self, command)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, complaints: look.Head{Limit: maxComplaint}}
	p.cmd.Stderr = &p.complaints
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	reports, toReports, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer toReports.Close()
	p.from, p.reports = reports, bufio.NewScanner(reports)
	p.reports.Buffer(nil, wire.MaxReportBytes)
	p.cmd.ExtraFiles = []*os.File{toReports}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", command, err), reports.Close())
	}
	conn := wire.NewConn(nil, p.in)
	if err := errors.Join(conn.Send(kind, task), conn.Flush()); err != nil {
		return nil, errors.Join(err, c.End(p))
	}
	return p, nil
}

// End waits for a process that has said its last word, or was killed. What it said that
// ended in no way of its own, as by a panic, is logged: otherwise it has reported what was
// wrong, with paths that are not for a log.
func (c Carrier) End(p *Process) error {
	p.in.Close()
	p.out.Close()
	return c.reap(p)
}

func (c Carrier) reap(p *Process) error {
	err := p.cmd.Wait()
	p.from.Close()
	if p.cmd.ProcessState.ExitCode() > 1 {
		c.Log.Error("a process that copies broke", "command", p.cmd.Args[len(p.cmd.Args)-1], "said", p.complaints.String())
	}
	return err
}

// Next reads a report. A process that ends without a last word gives an error. Where
// ctx has ended, that is why: what the process says then comes of it.
func (p *Process) Next(ctx context.Context) (wire.Report, error) {
	var report wire.Report
	var err error
	if p.reports.Scan() {
		if report, err = wire.Decode[wire.Report](p.reports.Bytes()); err == nil && report.State == wire.ReportFailed {
			err = report.Error
		}
	} else {
		err = errors.Join(errors.New("the receiving process ended without saying why"), p.reports.Err())
	}
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return report, err
}

// maxComplaint is how much is kept of what a process complains about.
const maxComplaint = 4 << 10
