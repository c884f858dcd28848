using Microsoft.CodeAnalysis;

namespace Net.Zlink.Analyzers;

internal static class Rules
{
    public const string NotDisposedId = "ZLINK001";
    public const string UsedAfterEndId = "ZLINK002";
    public const string BlockingHandlerId = "ZLINK003";
    public const string WaitingHandlerId = "ZLINK004";
    public const string ContextNotDisposedId = "ZLINK005";

    public static readonly DiagnosticDescriptor NotDisposed = Create(NotDisposedId, DiagnosticSeverity.Warning,
        "A received message is not disposed on each path",
        "'{0}' is received here, but a path leaves it without Dispose, so the pool loses its memory. Declare it with using.");

    public static readonly DiagnosticDescriptor UsedAfterEnd = Create(UsedAfterEndId, DiagnosticSeverity.Warning,
        "A message is used after it was disposed or sent",
        "'{0}' was {1} before, which ended it, so this throws an ObjectDisposedException. Read it first, or send a Copy.");

    public static readonly DiagnosticDescriptor BlockingHandler = Create(BlockingHandlerId, DiagnosticSeverity.Warning,
        "A handler blocks its shard",
        "'{0}' blocks the shard that calls this handler, so the shard's other peers wait. Return a task that is not complete yet.");

    public static readonly DiagnosticDescriptor WaitingHandler = Create(WaitingHandlerId, DiagnosticSeverity.Info,
        "A handler waits without a limit",
        "The peer is not read until this wait ends, and nothing ends it. Pass a CancellationToken, or use WaitAsync with a time.");

    public static readonly DiagnosticDescriptor ContextNotDisposed = Create(ContextNotDisposedId, DiagnosticSeverity.Warning,
        "A context is not disposed",
        "This ZlinkContext is never disposed, so its sockets stay open and may lose what they have queued. Declare it with await using.");

    private static DiagnosticDescriptor Create(string id, DiagnosticSeverity severity, string title, string text) => new(
        id, title, text, "Net.Zlink", severity, isEnabledByDefault: true, helpLinkUri: null);
}
