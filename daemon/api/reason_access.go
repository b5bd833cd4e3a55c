package api

// Reasons: who may do what.
const (
	// ReasonNoToken: no token was shown.
	ReasonNoToken Reason = "no_token"
	// ReasonBadToken: the token is not known.
	ReasonBadToken Reason = "bad_token"
	// ReasonExpiredToken: the token has expired.
	ReasonExpiredToken Reason = "expired_token"
	// ReasonOtherAccount: a one-time link to the dashboard was made for another account.
	ReasonOtherAccount Reason = "other_account"
	// ReasonCallerUnknown: the system does not tell which account calls.
	ReasonCallerUnknown Reason = "caller_unknown"
	// ReasonBadOrigin: the request comes from another web page.
	ReasonBadOrigin Reason = "bad_origin"
	// ReasonBadHost: the request names another host.
	ReasonBadHost Reason = "bad_host"
	// ReasonAdminRequired: only an administrator may do this.
	ReasonAdminRequired Reason = "admin_required"
	// ReasonNotYourJob: the job belongs to somebody else.
	ReasonNotYourJob Reason = "not_your_job"
	// ReasonPeerNotAllowed: a peer may not call this.
	ReasonPeerNotAllowed Reason = "peer_not_allowed"
	// ReasonNotAMember: the caller is not a member of this cluster.
	ReasonNotAMember Reason = "not_a_member"
	// ReasonSocketOnly: the method is for the Unix socket, where the kernel says who calls.
	ReasonSocketOnly Reason = "unix_socket_only"
	// ReasonNoSuchToken: there is no token of that name.
	ReasonNoSuchToken Reason = "no_such_token"
	// ReasonTooManyTokens: the user has as many tokens as one can have.
	ReasonTooManyTokens Reason = "too_many_tokens"
	// ReasonTooManySubscriptions: the connection has as many subscriptions as one can have.
	ReasonTooManySubscriptions Reason = "too_many_subscriptions"
	// ReasonTooManyClients: too many clients are connected.
	ReasonTooManyClients Reason = "too_many_clients"
)

// accessReasons are the rows about who may do what.
func accessReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonNoToken, Code: CodeUnauthenticated,
			Text:   "No token was shown.",
			Remedy: "Use the token in api.json, or make one with `fulmen token create`."},
		{Reason: ReasonBadToken, Code: CodeUnauthenticated,
			Text:   "The token is not known.",
			Remedy: "Make a new one with `fulmen token create`."},
		{Reason: ReasonExpiredToken, Code: CodeUnauthenticated,
			Text:   "The token has expired.",
			Remedy: "Make a new one with `fulmen token create`."},
		{Reason: ReasonOtherAccount, Code: CodeDenied,
			Text:   "This link to the dashboard was made for another account.",
			Remedy: "Run `fulmen dashboard` as the account that uses the browser."},
		{Reason: ReasonCallerUnknown, Code: CodeDenied,
			Text:   "The system does not tell which account uses this browser.",
			Remedy: "Open the dashboard in a browser that runs on this Mac itself, as the same account."},
		{Reason: ReasonBadOrigin, Code: CodeDenied,
			Text:   "The request comes from another web page.",
			Remedy: "Open the dashboard from `fulmen dashboard`."},
		{Reason: ReasonBadHost, Code: CodeDenied,
			Text:   "The request names another host.",
			Remedy: "Use 127.0.0.1 or localhost with the daemon's port."},
		{Reason: ReasonAdminRequired, Code: CodeDenied,
			Text:   "Only an administrator may do this.",
			Remedy: "Repeat it with `sudo`, or confirm it in the menu bar."},
		{Reason: ReasonNotYourJob, Code: CodeDenied,
			Text: "The job belongs to somebody else."},
		{Reason: ReasonPeerNotAllowed, Code: CodeDenied,
			Text: "A peer may not call this."},
		{Reason: ReasonNotAMember, Code: CodeDenied,
			Text: "The caller is not a member of this cluster."},
		{Reason: ReasonSocketOnly, Code: CodeDenied,
			Text:   "This method is for the Unix socket, where the system says who calls.",
			Remedy: "Connect to the socket that api.json names."},
		{Reason: ReasonNoSuchToken, Code: CodeNotFound,
			Text:   "There is no token of that name.",
			Remedy: "`fulmen token list` shows them."},
		{Reason: ReasonTooManyTokens, Code: CodeExhausted,
			Text:   "There are as many tokens as one user can have.",
			Remedy: "Revoke some with `fulmen token revoke`."},
		{Reason: ReasonTooManySubscriptions, Code: CodeExhausted,
			Text:   "The connection has as many subscriptions as one can have.",
			Remedy: "End some, or open another connection."},
		{Reason: ReasonTooManyClients, Code: CodeExhausted,
			Text:   "Too many clients are connected.",
			Remedy: "Close some of them."},
	}
}
