package job

import (
	"context"
	"errors"
	"fmt"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// ErrEnded is what Next returns after the terminal change.
var ErrEnded = errors.New("the job has ended")

// Watch is a subscription to one job: what it is, then what changes, ending with
// exactly one change that is terminal.
type Watch struct {
	// First is the job as it was when the subscription began.
	First api.JobGetResult

	j     *Jobs
	id    api.JobID
	hint  waker.Waker
	seen  map[api.Key]string // what was given: version and, of a job, phase
	code  *int
	ended bool
}

// Watch begins a subscription. The caller must Close it.
func (j *Jobs) Watch(ctx context.Context, c Caller, p api.JobSelect) (*Watch, error) {
	if _, _, err := j.find(ctx, c, p.Job); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	result, job, ok := j.getLocked(p.Job)
	if !ok {
		return nil, api.NewError(api.ReasonNoSuchJob, p.Job.String())
	}
	w := &Watch{First: result, j: j, id: p.Job, hint: waker.New(), seen: map[api.Key]string{}}
	w.unsent(result, job)
	if job.Phase.Ended() {
		w.hint.Wake()
	}
	k := j.jobs[p.Job]
	if k.watches == nil {
		k.watches = map[*Watch]struct{}{}
	}
	k.watches[w] = struct{}{}
	return w, nil
}

// Next waits for the next change; Sub and N are the caller's to fill in. After the
// terminal one the error is ErrEnded. It is for one goroutine at a time.
func (w *Watch) Next(ctx context.Context) (api.JobChanged, error) {
	for {
		if w.ended {
			return api.JobChanged{}, ErrEnded
		}
		select {
		case <-w.hint:
		case <-ctx.Done():
			return api.JobChanged{}, context.Cause(ctx)
		case <-w.j.ctx.Done():
			return api.JobChanged{}, api.NewError(api.ReasonStopping, "")
		}
		w.j.mu.Lock()
		result, job, ok := w.j.getLocked(w.id)
		change := api.JobChanged{Put: w.unsent(result, job)}
		w.j.mu.Unlock()
		if !ok { // only what has ended is deleted
			change.Put = nil
		}
		if !ok || job.Phase.Ended() {
			code := api.ExitNotStarted
			if w.code != nil {
				code = *w.code
			}
			w.ended = true
			change.Terminal, change.ExitCode = true, &code
		}
		if change.Terminal || len(change.Put) > 0 {
			return change, nil
		}
	}
}

// unsent lists the documents that were not given yet.
func (w *Watch) unsent(r api.JobGetResult, job api.Job) []api.Document {
	if job.ExitCode != nil {
		w.code = job.ExitCode
	}
	var put []api.Document
	for i, d := range append([]api.Document{r.Job}, r.Ranks...) {
		mark := fmt.Sprint(d.Inc, ".", d.Seq)
		if i == 0 {
			mark += string(job.Phase)
		}
		if w.seen[d.Key()] != mark {
			w.seen[d.Key()] = mark
			put = append(put, d)
		}
	}
	return put
}

// Close ends the subscription. It may be repeated.
func (w *Watch) Close() {
	w.j.mu.Lock()
	defer w.j.mu.Unlock()
	if k := w.j.jobs[w.id]; k != nil {
		delete(k.watches, w)
	}
}
