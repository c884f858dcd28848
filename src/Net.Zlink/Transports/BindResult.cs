namespace Net.Zlink.Transports;

internal readonly record struct BindResult(ITransportListener? Listener, EndpointError Error);
