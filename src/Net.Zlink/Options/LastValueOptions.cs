namespace Net.Zlink;

/// <summary>How much a <see cref="LastValuePublisher"/> stores. It copies them when it is made.</summary>
public sealed class LastValueOptions
{
    /// <summary>Most topics that have a stored value. 1 or more. 100,000: fewer than the messages that one subscriber's queue may hold, so
    /// that a new subscriber can hold all of them.</summary>
    public int MaxTopics { get; set; } = 100_000;

    /// <summary>Most bytes that topics and stored values take up, with 64 bytes for each topic. 1 or more. 16 MiB, a quarter of the bytes
    /// that one subscriber's queue may hold.</summary>
    public long MaxBytes { get; set; } = 16 * 1024 * 1024;

    /// <summary>The options of the socket: limits, TLS, heartbeats. <see cref="XPubOptions.Manual"/>,
    /// <see cref="XPubOptions.ManualLastValue"/>, <see cref="XPubOptions.NoDrop"/>, <see cref="XPubOptions.InvertMatching"/> and
    /// <see cref="ZmpSocketOptions.Immediate"/> are set by the publisher.</summary>
    public XPubOptions Socket { get; private set; } = new();

    /// <summary>Checks every option, as the publisher does when it is made.</summary>
    /// <exception cref="ArgumentOutOfRangeException">One has no allowed value. The message names it and says what it takes.</exception>
    public void Validate()
    {
        OptionRange.InRange(MaxTopics, 1);
        OptionRange.InRange(MaxBytes, 1);
    }
}
