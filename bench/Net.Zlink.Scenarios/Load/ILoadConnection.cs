namespace Net.Zlink.Scenarios.Load;

/// <summary>One connection of the load, whatever carries it.</summary>
internal interface ILoadConnection
{
    /// <summary>Messages without a reply.</summary>
    int InFlight { get; }

    /// <summary>Messages sent.</summary>
    long Sent { get; }

    /// <summary>Whether it has ended, by whichever side: no reply comes any more.</summary>
    bool IsOver { get; }

    /// <summary>Begins to read, and to send if the load does.</summary>
    void Start();

    /// <summary>Sends one message although the load sends nothing: its reply says that somebody serves this connection.</summary>
    void Probe();

    /// <summary>Ends it in order.</summary>
    void End();
}
