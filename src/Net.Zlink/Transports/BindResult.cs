namespace Net.Zlink.Transports;

/// <summary>The outcome of a bind: a listener, or an error.</summary>
/// <param name="Listener">Listening but not accepting yet, or null.</param>
/// <param name="Error">The error, or <see cref="EndpointError.None"/>.</param>
internal readonly record struct BindResult(ITransportListener? Listener, EndpointError Error);
