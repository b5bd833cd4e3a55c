package show

import (
	"time"

	"fulmen/daemon/api"
)

// audited is one entry of each sort.
func audited() []api.AuditEntry {
	ada, bob, eve := api.Principal{User: "ada", Node: second}, api.Principal{User: "bob", Node: studio}, api.Principal{User: "eve", Node: book}
	const rank, job = "j4k2m9xq7/1/0", "j4k2m9xq7"
	var all []api.AuditEntry
	add := func(count uint64, lasting time.Duration, c api.AuditCall) {
		first := now().Add(-time.Hour + time.Duration(len(all))*4*time.Minute)
		all = append(all, api.AuditEntry{Seq: uint64(len(all) + 4), AuditCall: c, First: api.TimeOf(first), Last: api.TimeOf(first.Add(lasting)), Count: count})
	}
	add(1, 0, api.AuditCall{By: bob, What: "cluster.map_user", Subject: ada.String(), Account: "guest", Why: api.AuditAdmin})
	add(1, 0, api.AuditCall{Node: second, By: ada, Of: ada, What: "peer.start", Subject: rank, Account: "guest", Why: api.AuditHome})
	add(431, 36*time.Minute, api.AuditCall{Node: second, Of: ada, What: "peer.renew", Subject: "j4k2m9xq7/1", Account: "guest", Why: api.AuditHome})
	add(1, 0, api.AuditCall{Node: book, By: ada, Of: ada, What: "output", Subject: rank, Account: "guest", Why: api.AuditSubmitter})
	add(12, 5*time.Second, api.AuditCall{Node: book, By: eve, Of: ada, What: "input", Subject: rank, Account: "guest", Why: api.AuditRefused, Reason: api.ReasonNotYourJob})
	add(1, 0, api.AuditCall{Node: second, By: ada, What: "peer.rdma", Subject: link(end(studio, 1), end(second, 1)).String(), Why: api.AuditCableEnd})
	add(1, 0, api.AuditCall{By: api.Principal{User: "guest", Node: studio}, Of: ada, What: "job.stop", Subject: job, Account: "guest", Why: api.AuditMappedAccount})
	add(1, 0, api.AuditCall{By: bob, Of: ada, What: "job.delete", Subject: job, Why: api.AuditAdmin, Reason: api.ReasonJobRunning})
	all[len(all)-1].Dropped = 40_213
	add(1, 0, api.AuditCall{Node: mini, What: api.AuditUnknown, Subject: "\x1b[2J", Why: api.AuditRefused, Reason: api.ReasonUnknownMethod})
	return all
}

// auditScreens are what fulmen events --audit shows.
func auditScreens(view, wide View) map[string]func(*Page) {
	return map[string]func(*Page){
		"audit":      func(w *Page) { view.Audit(w, audited()[:8], clusterNodes()) },
		"audit_wide": func(w *Page) { wide.Audit(w, audited(), clusterNodes()) },
		"audit_none": func(w *Page) { view.Audit(w, nil, clusterNodes()) },
	}
}
