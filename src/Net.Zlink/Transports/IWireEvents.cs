namespace Net.Zlink.Transports;

/// <summary>Gets a wire's completions on any thread, also on the one that began the operation. It must only post.</summary>
internal interface IWireEvents
{
    /// <summary>A completion would have to wait: the shard has other work.</summary>
    bool IsBusy { get; }

    /// <summary>The wait for input has ended: <see cref="Wire.FinishWait"/> says how.</summary>
    void OnInput();

    /// <summary>The pending write has ended: <see cref="Wire.FinishSend"/> says how.</summary>
    void OnSent();

    /// <summary>After a pending <see cref="Wire.EndSending"/>: our side has ended, or has failed to.</summary>
    void OnEnded();
}
