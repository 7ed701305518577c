"""Images on a CPU: the order of their numbers in memory, and maximum pooling over 2 x 2 pixels.

Both decide how long a small convolutional network takes.
"""


def channels_together(images):
    """Copy images (n, channels, height, width), the channels of a pixel adjacent in memory.

    On a CPU, a training step of a small convolutional network then takes about two thirds of the
    time. Images of one channel are copied too: `contiguous` would return them as they are, but the
    convolution's gradients are fast only if the strides state this order.
    """
    import torch

    return images.clone(memory_format=torch.channels_last)


def pooled(images, stride: int = 2):
    """Return the largest of every 2 x 2 pixels of images (n, channels, height, width).

    The result and its gradients equal those of torch's max_pool2d. On a CPU, max_pool2d takes
    longer than convolutions as small as ours, because its loop is not vectorised if the channels of
    a pixel are apart in memory. Bringing them together makes it about three times as fast, and they
    stay together, because the next convolution and its gradients then take less time too. Two
    maxima of slices are ten times as fast, but their gradients would be slow.
    """
    import torch
    from torch.nn.functional import max_pool2d

    if images.requires_grad:
        together = images.contiguous(memory_format=torch.channels_last)
        return max_pool2d(together, 2, stride=stride)
    # A window can start at every pixel but the last of an axis.
    height, width = (size - 1 for size in images.shape[2:])
    rows = torch.maximum(
        images[:, :, 0:height:stride],
        images[:, :, 1 : height + 1 : stride],
    )
    return torch.maximum(rows[..., 0:width:stride], rows[..., 1 : width + 1 : stride])
