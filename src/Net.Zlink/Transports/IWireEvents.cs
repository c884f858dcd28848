namespace Net.Zlink.Transports;

/// <summary>Gets a wire's completions on any thread, also on the one that began the operation: it must only post.</summary>
internal interface IWireEvents
{
    void OnInput();

    void OnSent();

    void OnEnded();
}
