namespace Net.Zlink.Conformance.Tests.Replayer;

/// <summary>What a broken implementation does wrong. Each of them must make a replay fail.</summary>
public enum Fault
{
    None,

    // On the wire
    DropsAByte,
    SendsAByteMore,
    SendsFramesTwice,
    SpeaksOnConnect,
    SpeaksWhenTimePasses,
    ClosesEarly,
    ClosesWhenTimePasses,
    IgnoresTheLimit,
    HasNoDefaultLimit,
    LeavesDisconnectedPeersOpen,
    TakesEachReadForOneFrame,
    NeverReads,
    ConnectsTwice,
    NeverReconnects,

    // In ws frames
    TakesBrokenFrames,
    AnswersNoPing,
    AnswersNoClose,

    // To the application
    LosesAMessage,
    DeliversTwice,
    DeliversOutOfOrder,
    DeliversAnotherByte,
    DeliversOnePart,
    DeliversHalfMessagesOnLoss,
    ForgetsTheDisconnectEvent,
    TellsTheWrongKind,
    SendsToAnyone,
    NamesAnotherError,

    // To the monitor, and in its books
    ReportsNoLoss,
    ReportsAnotherReason,
    ReportsTwice,
    KeepsBuffers,
    IsNeverIdle,
    IsNeverDisposed,
}
