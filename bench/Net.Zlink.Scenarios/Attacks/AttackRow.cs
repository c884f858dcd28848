namespace Net.Zlink.Scenarios.Attacks;

/// <summary>One kind of attack or fault, with what must hold meanwhile.</summary>
/// <param name="name">As on the command line.</param>
internal abstract class AttackRow(string name)
{
    public string Name => name;

    /// <summary>One round, with a context and peers of its own.</summary>
    public abstract Task<IReadOnlyList<AttackFigure>> RunAsync(TimeSpan time, CancellationToken cancellation);
}
