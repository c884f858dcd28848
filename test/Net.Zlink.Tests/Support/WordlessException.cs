namespace Net.Zlink.Tests.Support;

/// <summary>What an application may throw at worst: an exception that throws when it is asked what it says.</summary>
internal sealed class WordlessException : Exception
{
    public override string Message => throw new InvalidOperationException("it has no message");

    public override string ToString() => throw new InvalidOperationException("it has no text");
}
