package wire

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Report is what the receiving end tells its own daemon, one line of JSON each.
type Report struct {
	// State is what it is about.
	State ReportState `json:"state"`
	// LeftOut are folders that were left out by default; with ReportDone.
	LeftOut []string `json:"left_out,omitempty"`
	// Model is how far the copy of a model is.
	Model *api.ModelProgress `json:"model,omitempty"`
	// Public is the digest of a model that was got from Hugging Face without a token.
	Public string `json:"public,omitempty"`
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

// Valid reports whether it has what its state says.
func (r Report) Valid() bool {
	isKnown := slices.Contains([]ReportState{ReportReady, ReportProgress, ReportDone, ReportFailed}, r.State)
	return isKnown && (r.Error != nil) == (r.State == ReportFailed)
}

// reportEvery is how often progress is told at most.
const reportEvery = 100 * time.Millisecond

// Reporter writes reports.
type Reporter struct {
	w     io.Writer
	clock native.Clock
	last  time.Duration
}

// NewReporter makes a reporter.
func NewReporter(w io.Writer, clock native.Clock) *Reporter {
	return &Reporter{w: w, clock: clock, last: clock.Boot() - reportModelEvery}
}

// Ready says that the sender may begin.
func (r *Reporter) Ready() error { return r.report(Report{State: ReportReady}) }

// Alive says that it goes on, not too often.
func (r *Reporter) Alive() error {
	now := r.clock.Boot()
	if now-r.last < reportEvery {
		return nil
	}
	r.last = now
	return r.report(Report{State: ReportProgress})
}

// Done says that the copy is whole.
func (r *Reporter) Done(leftOut []string) error {
	return r.report(Report{State: ReportDone, LeftOut: leftOut})
}

// reportModelEvery is how often the progress of a model is told at most.
const reportModelEvery = 500 * time.Millisecond

// Model says how far the copy of a model is, not too often, and at its end.
func (r *Reporter) Model(p api.ModelProgress, isDone bool) error {
	if isDone {
		return r.report(Report{State: ReportDone, Model: &p})
	}
	now := r.clock.Boot()
	if now-r.last < reportModelEvery {
		return nil
	}
	r.last = now
	return r.report(Report{State: ReportProgress, Model: &p})
}

// Got says that a model was got, and the digest of its files where that took no token.
func (r *Reporter) Got(p api.ModelProgress, public string) error {
	return r.report(Report{State: ReportDone, Model: &p, Public: public})
}

// Failed says why it is not.
func (r *Reporter) Failed(why *api.Error) error {
	return r.report(Report{State: ReportFailed, Error: bounded(why)})
}

func (r *Reporter) report(report Report) error {
	data, err := json.Marshal(report)
	if err != nil {
		return err
	}
	_, err = r.w.Write(append(data, '\n'))
	return err
}
