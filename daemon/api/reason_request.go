package api

// Reasons: what is wrong with a request itself.
const (
	// ReasonMalformedID: a name or number is not written as it must be.
	ReasonMalformedID Reason = "malformed_id"
	// ReasonMalformedMessage: the message is not valid JSON-RPC 2.0.
	ReasonMalformedMessage Reason = "malformed_message"
	// ReasonMessageTooLarge: the message is larger than the limit.
	ReasonMessageTooLarge Reason = "message_too_large"
	// ReasonBatchTooLarge: the batch holds more requests than the limit.
	ReasonBatchTooLarge Reason = "batch_too_large"
	// ReasonUnknownMethod: there is no such method.
	ReasonUnknownMethod Reason = "unknown_method"
	// ReasonNotBuiltYet: the method is in the table, and this version does not have it.
	ReasonNotBuiltYet Reason = "not_built_yet"
	// ReasonNoSuchPath: the local server has nothing at that path.
	ReasonNoSuchPath Reason = "no_such_path"
	// ReasonUnknownField: a field is not known here.
	ReasonUnknownField Reason = "unknown_field"
	// ReasonMissingField: a required field is missing.
	ReasonMissingField Reason = "missing_field"
	// ReasonBadValue: a value is out of its range or set.
	ReasonBadValue Reason = "bad_value"
	// ReasonUnknownKind: there is no such kind of document.
	ReasonUnknownKind Reason = "unknown_kind"
	// ReasonMalformedDocument: a document breaks a rule of its kind or of the envelope.
	ReasonMalformedDocument Reason = "malformed_document"
	// ReasonDocumentTooLarge: a document is larger than the limit.
	ReasonDocumentTooLarge Reason = "document_too_large"
	// ReasonNotTheWriter: only the node that a document is about may write it.
	ReasonNotTheWriter Reason = "not_the_writer"
	// ReasonBadSignature: a signature does not fit what it signs.
	ReasonBadSignature Reason = "bad_signature"
	// ReasonDuplicateRequest: another request with this request_id had other contents.
	ReasonDuplicateRequest Reason = "duplicate_request"
	// ReasonNoSuchNode: no node has this id or name.
	ReasonNoSuchNode Reason = "no_such_node"
	// ReasonAmbiguousName: several nodes begin with this name.
	ReasonAmbiguousName Reason = "ambiguous_name"
	// ReasonNoSuchLink: there is no such cable.
	ReasonNoSuchLink Reason = "no_such_link"
	// ReasonNoSuchJob: there is no such job.
	ReasonNoSuchJob Reason = "no_such_job"
	// ReasonNoSuchRank: the job has no such rank.
	ReasonNoSuchRank Reason = "no_such_rank"
	// ReasonNoSuchMeasurement: there is no such measurement.
	ReasonNoSuchMeasurement Reason = "no_such_measurement"
	// ReasonNoSuchSubscription: there is no such subscription on this connection.
	ReasonNoSuchSubscription Reason = "no_such_subscription"
	// ReasonLagged: the client read too slowly and changes were dropped.
	ReasonLagged Reason = "lagged"
	// ReasonCancelled: it was cancelled.
	ReasonCancelled Reason = "cancelled"
	// ReasonDeadline: it took longer than it may.
	ReasonDeadline Reason = "deadline"
	// ReasonInternal: something went wrong inside Fulmen.
	ReasonInternal Reason = "internal"
)

// requestReasons are the rows about what is wrong with a request itself.
func requestReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonMalformedID, Code: CodeInvalid,
			Text: "A name or number is not written as it must be."},
		{Reason: ReasonMalformedMessage, Code: CodeInvalid,
			Text:   "The message is not valid JSON-RPC 2.0.",
			Remedy: "Send one request object per text message."},
		{Reason: ReasonMessageTooLarge, Code: CodeExhausted,
			Text:   "The message is larger than the limit.",
			Remedy: "Send less at once."},
		{Reason: ReasonBatchTooLarge, Code: CodeExhausted,
			Text:   "The batch holds more requests than the limit.",
			Remedy: "Send the requests in several batches."},
		{Reason: ReasonUnknownMethod, Code: CodeNotFound,
			Text:   "There is no such method.",
			Remedy: "The reference lists the methods of this version."},
		{Reason: ReasonNotBuiltYet, Code: CodeUnsupported,
			Text: "This version of Fulmen does not have this yet."},
		{Reason: ReasonNoSuchPath, Code: CodeNotFound,
			Text:   "There is nothing at this path.",
			Remedy: "The API is at /v1, its schema at /schema."},
		{Reason: ReasonUnknownField, Code: CodeInvalid,
			Text:   "A field is not known here.",
			Remedy: "The reference lists the fields; the message names the nearest one."},
		{Reason: ReasonMissingField, Code: CodeInvalid,
			Text: "A required field is missing."},
		{Reason: ReasonBadValue, Code: CodeInvalid,
			Text:   "A value is out of its range or set.",
			Remedy: "The reference gives the range."},
		{Reason: ReasonUnknownKind, Code: CodeInvalid,
			Text:   "There is no such kind of document.",
			Remedy: "The reference lists the kinds."},
		{Reason: ReasonMalformedDocument, Code: CodeInvalid,
			Text: "A document breaks a rule of its kind or of the envelope."},
		{Reason: ReasonDocumentTooLarge, Code: CodeExhausted,
			Text: "A document is larger than the limit."},
		{Reason: ReasonNotTheWriter, Code: CodeDenied,
			Text: "Only the node that a document is about may write it."},
		{Reason: ReasonBadSignature, Code: CodeDenied,
			Text: "A signature does not fit what it signs."},
		{Reason: ReasonDuplicateRequest, Code: CodeConflict,
			Text:   "Another request with this request_id had other contents.",
			Remedy: "Use a new request_id."},
		{Reason: ReasonNoSuchNode, Code: CodeNotFound,
			Text:   "No node has this id or name.",
			Remedy: "`fulmen nodes` lists them."},
		{Reason: ReasonAmbiguousName, Code: CodeInvalid,
			Text:   "Several nodes begin with this name.",
			Remedy: "Type more of it, or the id."},
		{Reason: ReasonNoSuchLink, Code: CodeNotFound,
			Text:   "There is no such cable.",
			Remedy: "`fulmen links` lists them."},
		{Reason: ReasonNoSuchJob, Code: CodeNotFound,
			Text:   "There is no such job.",
			Remedy: "`fulmen jobs` lists them."},
		{Reason: ReasonNoSuchRank, Code: CodeNotFound,
			Text:   "The job has no such rank.",
			Remedy: "`fulmen job show` lists them."},
		{Reason: ReasonNoSuchMeasurement, Code: CodeNotFound,
			Text: "There is no such measurement."},
		{Reason: ReasonNoSuchSubscription, Code: CodeNotFound,
			Text: "There is no such subscription on this connection."},
		{Reason: ReasonLagged, Code: CodeExhausted,
			Text:   "The client read too slowly and changes were dropped.",
			Remedy: "Take a new snapshot."},
		{Reason: ReasonCancelled, Code: CodeCancelled,
			Text: "It was cancelled."},
		{Reason: ReasonDeadline, Code: CodeDeadline,
			Text: "It took longer than it may."},
		{Reason: ReasonInternal, Code: CodeInternal,
			Text:   "Something went wrong inside Fulmen.",
			Remedy: "`fulmen report` collects what helps to find it."},
	}
}
