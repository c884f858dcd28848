namespace Net.Zlink.Transports;

/// <summary>Who hears of a wire's completions. Called on any thread, also on the one that began the operation; it must only hand
/// over.</summary>
internal interface IWireEvents
{
    /// <summary>What is told now would have to wait its turn: the shard has other work.</summary>
    bool IsBusy { get; }

    /// <summary>The wait for input is over: <see cref="Wire.FinishWait"/> says how.</summary>
    void OnInput();

    /// <summary>The pending write is over: <see cref="Wire.FinishSend"/> says how.</summary>
    void OnSent();

    /// <summary>Our side is ended, or cannot be, after <see cref="Wire.EndSending"/> said that it would take a while.</summary>
    void OnEnded();
}
