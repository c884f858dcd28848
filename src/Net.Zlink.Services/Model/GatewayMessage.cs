namespace Net.Zlink.Services;

/// <summary>One message that a <see cref="ServiceGateway"/> received from a receiver, other than the reply to a request: a lease on
/// pooled memory. Dispose it when its bytes are not needed any more.</summary>
/// <remarks>As <see cref="Net.Zlink.Message"/>, whose copy it holds: copies of this struct are the same lease.</remarks>
public readonly struct GatewayMessage : IDisposable
{
    private readonly int _skip;

    internal GatewayMessage(ServiceInstance receiver, in Message message, int skip)
    {
        Receiver = receiver;
        Message = message;
        _skip = skip;
    }

    /// <summary>The receiver that sent it. If several services list its endpoint, the one that listed it first.</summary>
    public ServiceInstance Receiver { get; }

    /// <summary>The name of the service that sent it; see <see cref="Receiver"/>.</summary>
    public string Service => Receiver?.Service ?? "";

    /// <summary>The message as it came. Its parts are those of this struct, except that a message whose first part begins like a request's
    /// envelope has one more part in front.</summary>
    public Message Message { get; }

    /// <summary>Number of parts, at least 1.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public int PartCount => Message.PartCount - _skip;

    /// <summary>One part, valid until Dispose.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            return Message[index + _skip];
        }
    }

    /// <summary>The first part, valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => this[0];

    /// <summary>The first part, valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The message was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>Ends the lease; idempotent.</summary>
    public void Dispose() => Message.Dispose();
}

/// <summary>The reply to a request: a lease on pooled memory. Dispose it when its bytes are not needed any more.</summary>
/// <remarks>As <see cref="Message"/>, which it holds: copies of this struct are the same lease.</remarks>
public readonly struct ServiceReply : IDisposable
{
    private readonly Message _message;

    internal ServiceReply(in Message message, ServiceInstance receiver, int attempts, TimeSpan elapsed)
    {
        _message = message;
        Receiver = receiver;
        Attempts = attempts;
        Elapsed = elapsed;
    }

    /// <summary>The receiver that replied.</summary>
    public ServiceInstance Receiver { get; }

    /// <summary>How many receivers got the request: all before the last one refused it.</summary>
    public int Attempts { get; }

    /// <summary>From the call until the reply was received.</summary>
    public TimeSpan Elapsed { get; }

    /// <summary>Number of parts; 0 if the reply has none.</summary>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public int PartCount => Math.Max(0, _message.PartCount - 1); // Its envelope is no part.

    /// <summary>One part, valid until Dispose.</summary>
    /// <param name="index">From 0 on.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such part.</exception>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public ReadOnlyMemory<byte> this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            return _message[index + 1];
        }
    }

    /// <summary>The first part; empty if there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => PartCount == 0 ? ReadOnlyMemory<byte>.Empty : this[0];

    /// <summary>The first part; empty if there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>Ends the lease; idempotent.</summary>
    public void Dispose() => _message.Dispose();
}
