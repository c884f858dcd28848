using System.Buffers;

namespace Net.Zlink;

/// <summary>Turns values into bytes and back. <see cref="JsonMessageSerializer"/> does it with System.Text.Json; others take ten lines
/// each.</summary>
/// <remarks>Implementations are safe for any number of threads. One object serves all types of an application.</remarks>
public interface IMessageSerializer
{
    /// <summary>Writes a value.</summary>
    /// <param name="value">The value.</param>
    /// <param name="writer">Takes the bytes; not kept.</param>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <exception cref="NotSupportedException">The serializer does not know the type.</exception>
    void Serialize<T>(T value, IBufferWriter<byte> writer);

    /// <summary>Reads a value.</summary>
    /// <param name="bytes">What a peer sent, which may be anything. The value refers to none of it.</param>
    /// <returns>The value.</returns>
    /// <typeparam name="T">The type that both sides have agreed on.</typeparam>
    /// <exception cref="NotSupportedException">The serializer does not know the type, whatever the bytes are.</exception>
    /// <exception cref="Exception">The bytes are no such value; each serializer has an exception of its own.</exception>
    T Deserialize<T>(ReadOnlySpan<byte> bytes);
}
