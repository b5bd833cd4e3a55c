package show

import (
	"fmt"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Service is a model that is served.
type Service struct {
	// ID is the job's.
	ID api.JobID `json:"job"`
	// Name is what it was declared by.
	Name string `json:"name"`
	// Model is what it serves, and Engine what serves it.
	Model  api.ModelSelect `json:"model"`
	Engine string          `json:"engine"`
	// Port is its port on this Mac, and URL its address there.
	Port int    `json:"port"`
	URL  string `json:"url"`
	// Job is the job's document.
	Job api.Job `json:"document"`
}

// IsReady reports whether what a job serves can be used now.
func IsReady(j api.Job) bool {
	a := Current(j)
	return j.Phase == api.JobRunning && a != nil && !a.ReadyAt.IsZero() && j.Reason != api.ReasonNotReady
}

// Services lists them.
func (v View) Services(w *Page, all []Service, n Names) {
	if len(all) == 0 {
		w.Line("You serve no model. Begin with: fulmen serve MODEL")
		return
	}
	table := text.NewTable("NAME", "MODEL", "ENGINE", "ATTEMPTS", "ADDRESS", "STATE")
	for _, one := range all {
		table.Row(one.Name, join(" at ", one.Model.Model, one.Model.Revision), one.Engine, fmt.Sprint(one.Job.Attempt), one.URL, v.serviceState(one, n))
	}
	fmt.Fprint(w, table)
}

func (v View) serviceState(s Service, n Names) string {
	if !IsReady(s.Job) {
		return v.Progress(s.Job, nil, n)
	}
	where := ""
	if a := Current(s.Job); a.Plan != nil {
		where = " on " + n.List(rankNodes(*a.Plan))
	}
	return "ready" + where
}

// Service says where one is and how it is used.
func (v View) Service(w *Page, s Service, n Names) {
	w.Line(s.Name + " is " + v.serviceState(s, n) + ": " + s.URL)
	w.Line("")
	w.Line("  curl " + s.URL + "/v1/chat/completions -H 'Content-Type: application/json' \\")
	w.Line(`    -d '{"messages": [{"role": "user", "content": "Hello"}]}'`)
}
