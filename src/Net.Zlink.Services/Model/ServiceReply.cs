namespace Net.Zlink.Services;

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

    /// <summary>Who replied.</summary>
    public ServiceInstance Receiver { get; }

    /// <summary>How many receivers were asked: those before the last one refused.</summary>
    public int Attempts { get; }

    /// <summary>From the call until the reply was received.</summary>
    public TimeSpan Elapsed { get; }

    /// <summary>Number of parts; 0 where the receiver replied without any.</summary>
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

    /// <summary>The first part, or nothing where there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public ReadOnlyMemory<byte> Memory => PartCount == 0 ? ReadOnlyMemory<byte>.Empty : this[0];

    /// <summary>The first part, or nothing where there is none. Valid until Dispose.</summary>
    /// <exception cref="ObjectDisposedException">The reply was disposed.</exception>
    public ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>Ends the lease; idempotent.</summary>
    public void Dispose() => _message.Dispose();
}
