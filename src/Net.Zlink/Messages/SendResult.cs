namespace Net.Zlink;

/// <summary>What a TrySend did: true in an <c>if</c> when the message was sent, else with the reason.</summary>
/// <remarks>The default value is not sent. After a send that failed the message still belongs to the caller. A method with a form for bool,
/// such as <c>Console.WriteLine</c>, takes the bool: give it <see cref="Reason"/>.</remarks>
/// <example>
/// <code>
/// SendResult result = socket.TrySend("hello"u8);
/// if (!result)
/// {
///     Console.WriteLine($"not sent: {result.Reason}");
/// }
/// </code>
/// </example>
public readonly struct SendResult : IEquatable<SendResult>
{
    private readonly byte _reason;

    /// <summary>A result with a reason, for a fake in a unit test.</summary>
    /// <param name="reason"><see cref="SendFailure.None"/>: it was sent.</param>
    public SendResult(SendFailure reason) => _reason = (byte)reason;

    /// <summary>The result of a message that was sent.</summary>
    public static SendResult Sent => new(SendFailure.None);

    /// <summary>Why it was not sent; <see cref="SendFailure.None"/> if it was.</summary>
    public SendFailure Reason => (SendFailure)_reason;

    /// <summary>Whether the message was sent.</summary>
    public bool IsSent => _reason == (byte)SendFailure.None;

    /// <summary>Whether the message was sent.</summary>
    /// <param name="result">The result.</param>
    public static implicit operator bool(SendResult result) => result.IsSent;

    /// <summary>A result with a reason, for a fake in a unit test.</summary>
    /// <param name="reason"><see cref="SendFailure.None"/>: it was sent.</param>
    public static implicit operator SendResult(SendFailure reason) => new(reason);

    /// <summary>Whether two results have the same reason.</summary>
    /// <param name="left">One result.</param>
    /// <param name="right">The other result.</param>
    public static bool operator ==(SendResult left, SendResult right) => left.Equals(right);

    /// <summary>Whether two results have different reasons.</summary>
    /// <param name="left">One result.</param>
    /// <param name="right">The other result.</param>
    public static bool operator !=(SendResult left, SendResult right) => !left.Equals(right);

    /// <inheritdoc/>
    public bool Equals(SendResult other) => _reason == other._reason;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is SendResult other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _reason;

    /// <summary>The reason, or "Sent".</summary>
    /// <returns>A word.</returns>
    public override string ToString() => IsSent ? nameof(Sent) : Reason.ToString();
}

/// <summary>Why a message was not sent: <see cref="SendResult.Reason"/>. In each case but <see cref="None"/> the message, and memory that
/// was handed over with it, still belongs to the caller.</summary>
public enum SendFailure
{
    /// <summary>Nothing was tried: the default value of <see cref="SendResult"/>.</summary>
    NotTried = 0,

    /// <summary>The message was sent, and belongs to the socket now.</summary>
    None = 1,

    /// <summary>
    /// No peer has capacity: none is connected, or each is at its high-water mark or a byte limit. Try again later, or use SendAsync, which
    /// waits.
    /// </summary>
    Full = 2,

    /// <summary>There is no such peer: it has not connected yet, or its connection has ended.</summary>
    NoPeer = 3,

    /// <summary>There is no memory for a buffer, even after the pool released its retained buffers.</summary>
    NoMemory = 4,

    /// <summary>The message has several parts, but STREAM peers and sockets with Conflate take messages of one part.</summary>
    TooManyParts = 5,

    /// <summary>The peer is a pipe (<see cref="StreamSocket.BindPipe"/>): write to its Output.</summary>
    IsPipe = 6,
}
