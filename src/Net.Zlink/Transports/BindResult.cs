namespace Net.Zlink.Transports;

/// <summary>The outcome of a bind: a listener, or an error.</summary>
/// <param name="Listener">Bound and listening, not yet accepting; null when <paramref name="Error"/> says why not.</param>
/// <param name="Error">What went wrong, or <see cref="EndpointError.None"/>.</param>
internal readonly record struct BindResult(ITransportListener? Listener, EndpointError Error);
