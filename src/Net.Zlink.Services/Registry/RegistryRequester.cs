namespace Net.Zlink.Services;

/// <summary>A request that waits for a decision, or behind one that does. Without <paramref name="Echo"/> the answer names the entry's
/// endpoint.</summary>
internal readonly record struct WaitingRequest(RegistryRequest Request, byte[]? Echo)
{
    // Of the objects that hold it.
    private const int Overhead = 256;

    public ReadOnlySpan<byte> EchoOrEndpoint => Echo is not null ? Echo : Request.Entry.Endpoint.Span;

    public long ByteCount => Overhead + (Echo?.Length ?? Request.Entry.Endpoint.Span.Length + Request.Entry.Service.Name.Span.Length);
}

/// <summary>One connection to a registry, with its requests that wait, in order. Used by one loop alone.</summary>
internal sealed class RegistryRequester
{
    private readonly Queue<WaitingRequest> _waiting = new();
    private Message _origin;

    public RegistryRequester(in Message message)
    {
        Sender = RegistrySender.Of(message);
        RemoteAddress = message.RemoteAddress;
        WebSocketRequest = message.WebSocketRequest;
    }

    public RegistrySender Sender { get; }

    public string RemoteAddress { get; }

    public WebSocketRequest? WebSocketRequest { get; }

    public bool IsWaiting => _waiting.Count > 0;

    public long WaitingBytes { get; private set; }

    /// <summary>It was disconnected: its earlier requests are ignored.</summary>
    public bool HasEnded { get; set; }

    /// <summary>A message of this connection, by which answers go.</summary>
    public ref readonly Message Origin => ref _origin;

    public void Enqueue(in Message message, in WaitingRequest request)
    {
        if (_waiting.Count == 0)
        {
            _origin = message.Copy();
        }

        _waiting.Enqueue(request);
        WaitingBytes += request.ByteCount;
    }

    public bool TryPeek(out WaitingRequest request) => _waiting.TryPeek(out request);

    public void Dequeue()
    {
        WaitingBytes -= _waiting.Dequeue().ByteCount;
        if (_waiting.Count == 0)
        {
            _origin.Dispose();
        }
    }
}
