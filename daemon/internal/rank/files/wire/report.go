package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Report is what the receiving end tells its own daemon, one line of JSON each.
type Report struct {
	// State is what it is about.
	State ReportState `json:"state"`
	// DoneBytes and TotalBytes are how much has arrived of what is wanted.
	DoneBytes  int64 `json:"done_bytes,omitempty"`
	TotalBytes int64 `json:"total_bytes,omitempty"`
	// LeftOut are folders that were left out by default; with ReportDone.
	LeftOut []string `json:"left_out,omitempty"`
	// Error is why it ended; with ReportFailed.
	Error *api.Error `json:"error,omitempty"`
}

// ReportState is what a report is about.
type ReportState string

const (
	// ReportReady: nobody else copies the same folder, and the sender may begin.
	ReportReady ReportState = "ready"
	// ReportProgress: it goes on.
	ReportProgress ReportState = "progress"
	// ReportDone: the copy is whole. The last report.
	ReportDone ReportState = "done"
	// ReportFailed: it is not. The last report.
	ReportFailed ReportState = "failed"
)

// MaxReportBytes bounds one report.
const MaxReportBytes = 64 << 10

// DecodeReport reads one report.
func DecodeReport(line []byte) (Report, error) {
	var r Report
	if err := strict(line, &r); err != nil {
		return r, err
	}
	bad := r.DoneBytes < 0 || r.TotalBytes < r.DoneBytes
	switch r.State {
	case ReportReady, ReportProgress, ReportDone:
		bad = bad || r.Error != nil
	case ReportFailed:
		bad = bad || r.Error == nil
	default:
		bad = true
	}
	if bad {
		return Report{}, fmt.Errorf("%w: a report", ErrProtocol)
	}
	return r, nil
}

// reportEvery is how often progress is told at most.
const reportEvery = 100 * time.Millisecond

// Reporter writes reports.
type Reporter struct {
	w      io.Writer
	clock  native.Clock
	last   time.Duration
	latest Report
}

// NewReporter makes a reporter.
func NewReporter(w io.Writer, clock native.Clock) *Reporter {
	return &Reporter{w: w, clock: clock, last: clock.Boot() - reportEvery}
}

// Ready says that the sender may begin.
func (r *Reporter) Ready() error { return r.say(Report{State: ReportReady}) }

// Progress says how much has arrived, not too often; the end of it always.
func (r *Reporter) Progress(done, total int64) error {
	r.latest = Report{State: ReportProgress, DoneBytes: done, TotalBytes: total}
	if done == total {
		return r.say(r.latest)
	}
	return r.Alive()
}

// Alive says the latest progress again, not too often.
func (r *Reporter) Alive() error {
	now := r.clock.Boot()
	if now-r.last < reportEvery {
		return nil
	}
	r.last = now
	r.latest.State = ReportProgress
	return r.say(r.latest)
}

// Done says that the copy is whole.
func (r *Reporter) Done(leftOut []string) error {
	return r.say(Report{State: ReportDone, LeftOut: leftOut})
}

// Failed says why it is not.
func (r *Reporter) Failed(why *api.Error) error {
	return r.say(Report{State: ReportFailed, Error: bounded(why)})
}

func (r *Reporter) say(report Report) error {
	data, err := json.Marshal(report)
	if err != nil {
		return err
	}
	_, err = r.w.Write(append(data, '\n'))
	return err
}
